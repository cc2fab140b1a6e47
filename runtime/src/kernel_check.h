// Holds one launch of a kernel to the modes of its parameters.
#pragma once

#include "box.h"
#include "device.h"
#include "format/program.h"
#include "graph_builder.h"
#include "watched_memory.h"

#include <cgrt/cgrt.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace cgrt {

/// Runs the kernel on the memory as it is, and then, if it has `out` parameters, twice with their
/// elements overwritten by two patterns. An element that keeps both patterns was not written; one
/// that differs otherwise shows that the kernel has read what it declares `out`.
class KernelCheck {
public:
  /// Everything must outlive this object; the node's work is a kernel's.
  KernelCheck(const format::Program &program, const GraphBuilder &builder, const format::Node &node,
              WatchedMemory &memory);

  /// `launch` runs the node alone. Leaves memory as the first run has left it, and looked at.
  std::vector<EffectFault> run(DeviceExecutable &launch);

private:
  struct Argument {
    std::size_t param; ///< its index
    format::BufferId buffer;
    format::Mode mode;
    Box box;
  };

  /// What the launch may and must do to an element; the bits of an element's Use.
  enum : std::uint8_t { Reads = 1, Writes = 2, MustWrite = 4 };
  using Use = std::vector<std::uint8_t>;

  /// What `out` elements hold before a run: what they held, one of two patterns, or 0, which much
  /// code treats apart.
  enum class Before : std::uint8_t { AsItWas, Low, High, Zero };
  /// By Before.
  using Results = std::array<Contents, 4>;

  struct Element {
    format::BufferId buffer;
    std::size_t index;
  };

  struct Evidence {
    Element first;
    std::uint64_t count = 0;
  };

  void add_uses();
  void find_undeclared_writes(const Contents &after);
  /// `after` comes from a run on memory as it was.
  void find_reads(DeviceExecutable &launch, const Contents &after);
  /// Removes those whose results are not the same in further runs.
  void keep_steady(std::vector<Element> &suspects, DeviceExecutable &launch,
                   const Results &results);

  /// Runs on the state before the first run but for the `out` elements; what is then in touched_.
  Contents run_again(DeviceExecutable &launch, Before before);
  static bool is_replaced(std::uint8_t use) { return (use & MustWrite) != 0 && (use & Reads) == 0; }
  bool same(const Contents &a, const Contents &b, const Element &element) const;
  bool is_pattern(const Contents &contents, Before before, const Element &element) const;
  /// Its low bytes are the element's.
  std::uint64_t pattern(Before before, const Element &element) const;

  void add(EffectFault::Kind kind, const Element &element);
  const Argument *argument(EffectFault::Kind kind, const Element &element) const;
  std::vector<std::int64_t> coordinates(const Element &element) const;
  EffectFault fault(EffectFault::Kind kind, const Argument *argument,
                    const Evidence &evidence) const;
  std::string outs() const;

  const format::Program &program_;
  const format::Kernel &kernel_;
  WatchedMemory &memory_;
  NodeLabel label_;
  std::vector<Argument> arguments_;
  std::map<format::BufferId, Use> uses_; ///< of the buffers that it is given
  bool has_outs_ = false;                ///< elements that are replaced
  std::vector<format::BufferId> touched_;
  std::map<std::pair<EffectFault::Kind, const Argument *>, Evidence> found_;
};

} // namespace cgrt
