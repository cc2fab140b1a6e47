#include "executable_state.h"

namespace cgrt {

Executable::Executable(std::shared_ptr<State> state) : state_(std::move(state)) {}

void Executable::launch() {
  state_->executable->launch();
}
void Executable::wait() {
  state_->executable->wait();
}

std::size_t Executable::node_count() const {
  return state_->nodes;
}
std::size_t Executable::edge_count() const {
  return state_->edges;
}
BuildTimes Executable::times() const {
  return state_->times;
}

} // namespace cgrt
