// What cgrun tells about a run.
#pragma once

#include "statistics.h"

#include <cgrt/cgrt.h>

#include <llvm/Support/raw_ostream.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cgrun {

/// In microseconds.
struct Times {
  double compile = 0; ///< 0 for a bundle
  double load = 0;    ///< reading the bundle, loading its code, allocating memory
  double build = 0;
  double instantiate = 0;
  double launch = 0; ///< median CPU time of the launch calls
  double total = 0;  ///< median from before the launch calls to all done
};

struct OutputSummary {
  std::string name;
  cgrt::BufferView view;
  std::optional<Statistics> statistics; ///< nothing for a buffer without elements
  std::string sha256;                   ///< of the raw bytes, in hex
};

/// What --check-effects has found.
struct EffectSummary {
  std::uint64_t kernels = 0; ///< launches
  std::vector<cgrt::EffectFault> faults;
};

/// A timing event in the last launch, from the first of its graph on.
struct EventTime {
  std::string name;
  double milliseconds = 0;
};

struct Report {
  std::string device;
  std::string graph; ///< several names are joined by commas, their nodes and edges added up
  std::size_t nodes = 0;
  std::size_t edges = 0;
  std::uint64_t launches = 0;
  Times times;
  std::vector<EventTime> events;
  std::vector<OutputSummary> outputs;
  std::optional<EffectSummary> effects; ///< nothing where they were not checked
};

/// One JSON object; NaN and the infinities are the strings "nan", "inf" and "-inf", and what an
/// empty buffer does not have is null.
void print_json(llvm::raw_ostream &out, const Report &report);

/// A short table of the same.
void print_table(llvm::raw_ostream &out, const Report &report);

} // namespace cgrun
