// A change of an instance, all of it or nothing.
#pragma once

#include "instance_state.h"

#include <cgrt/cgrt.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace cgrt {

/// Serves one update after the other, so that what it needs is allocated once.
class Transaction {
public:
  /// Nobody else uses the instance during an update.
  explicit Transaction(InstanceState &state) : state_(state) {}

  /// Begins anew.
  void begin();

  /// Each param once.
  void assign(std::string_view param, const Scalar &value) {
    assignments_.push_back(state_.parameters.assignment(param, value));
  }
  /// Error{Usage} where this memory cannot be this buffer's.
  void bind(const std::string &buffer, const BoundMemory &memory);

  /// After an error nothing has changed. Then comes begin().
  UpdateReport commit();

private:
  using LiveNode = ExecutableState::LiveNode;

  /// New memory of a buffer; once exchanged, the old one.
  struct Placement {
    format::BufferId buffer;
    BufferMemory memory;
    PlacedBuffer placed;
  };

  /// A number in a node's params: a slot of a kernel's arguments, or an address. `value` is what it
  /// becomes; once exchanged, what it was.
  struct Patch {
    LiveNode *node;
    Use::Where where;
    std::uint32_t argument;
    std::uint64_t value;
  };

  /// A node that is resolved again; likewise.
  struct Whole {
    LiveNode *node;
    NodeParams params;
    bool enabled;
  };

  /// What happens to one executable.
  struct Plan {
    void begin(std::shared_ptr<ExecutableState> whose);

    std::shared_ptr<ExecutableState> executable;
    std::vector<Patch> patches;
    std::vector<Whole> wholes;
    std::vector<LiveNode *> nodes; ///< that these are of, each once
    bool applied = false;
    std::size_t updated = 0; ///< of `nodes`: so many are changed in the executable
    std::string rebuild;     ///< why it must be made anew; empty: it need not
    std::optional<InstanceState::Made> made;
  };

  void resize();
  void check_memory() const;
  void exchange_memory();
  void exchange_state();
  std::string why_not_in_place(const Use &use);
  void add(Plan &plan, const Use &use, std::optional<std::uint64_t> value);
  void make(Plan &plan);
  void resolve_again(Plan &plan);
  void make_live(ExecutableState &executable, std::uint32_t index);
  std::span<Plan> plans() { return {plans_.data(), plan_count_}; }
  void make_room_for_retired();
  std::optional<UpdateReport> take_shortcut();
  void make_plans();
  void wait_for_device();
  std::span<const DeviceExecutable::Update> updates_of(const Plan &plan);
  void exchange(Plan &plan, bool forward);
  void apply(Plan &plan);
  void take_back(Plan &plan);
  void finish(Plan &plan, UpdateReport &report);

  InstanceState &state_;
  std::vector<Parameters::Assignment> assignments_;
  Parameters::Changes changes_;
  std::vector<Placement> placements_;
  std::vector<Plan> plans_; ///< the first plan_count_ of them
  std::size_t plan_count_ = 0;
  std::vector<std::uint32_t> again_;              ///< nodes to be resolved, of the current plan
  std::vector<DeviceExecutable::Update> updates_; ///< of the current plan
};

} // namespace cgrt
