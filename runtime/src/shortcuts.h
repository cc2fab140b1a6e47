// The fast way of set() and bind().
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

/// For a param or a buffer on which nothing but arguments of kernels depends: the slots to write
/// and the device's calls to make, ready and side by side. A Transaction does all else, and looks
/// up what depends on a change in tables that a launch drives out of the caches, which for one
/// node costs more than CUDA's call. Of three changes in place, each made alone, the first is
/// noted, the second makes the shortcut, and the third uses it.
class Shortcuts {
public:
  /// Sets the param where it has a shortcut and all goes well. Otherwise nothing has changed, and a
  /// Transaction does it or says why not.
  std::optional<UpdateReport> set(InstanceState &state, std::string_view param,
                                  const Scalar &value);
  /// The same for a buffer, whose memory now begins `bytes` further on; its extents are the same.
  std::optional<UpdateReport> move(format::BufferId buffer, std::uint64_t bytes);

  /// After a Transaction that has set this param, or bound this buffer, and nothing else. The
  /// change is done, so that a shortcut that cannot be made is none.
  void note(InstanceState &state, std::string_view param, const UpdateReport &report) noexcept;
  void note(InstanceState &state, format::BufferId buffer, const UpdateReport &report) noexcept;

  /// To be called when an executable has been made, or a LiveNode gets other params as a whole: the
  /// slots are not there any more.
  void clear() {
    params_.clear();
    buffers_.clear();
    noted_.clear();
  }

private:
  struct Argument {
    std::uint64_t *slot; ///< of a LiveNode
    ScalarType type;     ///< of a value
  };

  struct PerExecutable {
    std::unique_ptr<PreparedKernels> kernels;
    std::vector<Argument> arguments;
    std::weak_ptr<ExecutableState> executable;
    std::size_t nodes;
  };
  using AllExecutables = std::vector<PerExecutable>;

  struct ParamShortcut {
    std::string name;
    ScalarType type;
    format::ParamId param;
    format::ExprId expr; ///< the only one that reads the param: the param itself
    AllExecutables all;
  };

  struct BufferShortcut {
    format::BufferId buffer;
    AllExecutables all;
  };

  using Changed = std::variant<format::ParamId, format::BufferId>;
  struct Noted {
    Changed what;
    int times;
  };

  int count(Changed what);
  void add(InstanceState &state, format::ParamId param);
  void add(InstanceState &state, format::BufferId buffer);
  static std::optional<AllExecutables> find_slots(InstanceState &state, std::span<const Use> uses);
  static std::optional<PerExecutable> find_slots(InstanceState &state,
                                                 const std::shared_ptr<ExecutableState> &executable,
                                                 std::span<const Use> uses);
  template <typename Change> static bool apply_to_one(PerExecutable &one, const Change &change);
  template <typename Change, typename MakeBack>
  static std::optional<UpdateReport> apply_to_all(AllExecutables &all, const Change &change,
                                                  const MakeBack &make_back);

  std::vector<ParamShortcut> params_;
  std::vector<BufferShortcut> buffers_;
  std::vector<Noted> noted_;
};

} // namespace cgrt
