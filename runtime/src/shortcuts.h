// What set() of a param or bind() of a buffer comes to, where it changes numbers in kernels'
// arguments and nothing else.
#pragma once

#include "executable_state.h"
#include "format/program.h"
#include "parameters.h"

#include <cgrt/cgrt.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace cgrt {

struct InstanceState;

/// A Transaction looks up what depends on a change, in tables that a launch has driven out of the
/// caches: for a single node that costs more than CUDA's call. Of what is changed again and again,
/// alone, the places are remembered, side by side.
class Shortcuts {
public:
  /// Sets the param where it has a shortcut and all goes well. Otherwise nothing has changed, and a
  /// Transaction does it or says why not.
  std::optional<UpdateReport> set(InstanceState &state, std::string_view param,
                                  const Scalar &value);

  /// The same for a buffer, whose memory now begins `bytes` further on; its extents are the same.
  std::optional<UpdateReport> move(format::BufferId buffer, std::uint64_t bytes);

  /// After a Transaction that has set this param, or bound this buffer, and nothing else. The
  /// second time, that gets a shortcut, if it can have one: where changes on which more depends
  /// come between, shortcuts would not last.
  void learn(InstanceState &state, std::string_view param);
  void learn(InstanceState &state, format::BufferId buffer);

  /// What is remembered holds until an executable is made or a LiveNode gets other params.
  void clear() {
    params_.clear();
    buffers_.clear();
    changed_before_.clear();
  }

private:
  struct Argument {
    std::uint64_t *slot; ///< of a LiveNode
    ScalarType type;     ///< of a value
  };

  /// One executable.
  struct Part {
    std::unique_ptr<PreparedKernels> kernels;
    std::vector<Argument> arguments;
    std::weak_ptr<ExecutableState> executable;
    std::size_t nodes;
  };
  using Parts = std::vector<Part>;

  struct OfParam {
    std::string name;
    ScalarType type;
    format::ParamId param;
    format::ExprId expr; ///< the only one that reads the param
    Parts parts;
  };

  struct OfBuffer {
    format::BufferId buffer;
    Parts parts;
  };

  using Cause = std::variant<format::ParamId, format::BufferId>;

  bool is_first(Cause cause);
  static std::optional<Parts> parts_of(InstanceState &state, std::span<const Use> uses);
  static std::optional<Part> part_of(InstanceState &state,
                                     const std::shared_ptr<ExecutableState> &executable,
                                     std::span<const Use> uses);
  template <typename Change> static bool apply(Part &part, const Change &change);
  template <typename Change, typename MakeBack>
  static std::optional<UpdateReport> apply(Parts &parts, const Change &change,
                                           const MakeBack &make_back);

  std::vector<OfParam> params_;
  std::vector<OfBuffer> buffers_;
  std::vector<Cause> changed_before_; ///< by a Transaction
};

} // namespace cgrt
