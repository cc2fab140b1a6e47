// The lines of IR text about what kernels launch and change.
#pragma once

#include "ir/code_reader.h"
#include "ir/ir_names.h"

#include "format/program.h"

#include <string>
#include <utility>
#include <vector>

namespace cgc {

class RequestReader {
public:
  /// `code` reads the places.
  RequestReader(IrParser &parser, cgrt::format::Program &program, CodeReader &code)
      : parser_(parser), program_(program), code_(code) {}

  // What is next: `!3`, `^3`, or what stands behind the first word of a line.
  cgrt::format::LaunchId launch();
  cgrt::format::UpdatableId updatable();
  void read_launch();
  void read_updatable();
  void read_update();

  /// Once all graphs are there, which stand below what names them.
  void find_graphs(const IrNames<cgrt::format::GraphId> &graphs);

private:
  using Named = std::vector<std::pair<std::string, SourceRange>>;

  cgrt::format::Place end();

  IrParser &parser_;
  cgrt::format::Program &program_;
  CodeReader &code_;
  Named targets_;       ///< of the launches
  Named update_graphs_; ///< of the updates
};

} // namespace cgc
