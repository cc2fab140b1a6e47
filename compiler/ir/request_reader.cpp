#include "ir/request_reader.h"

namespace cgc {

using cgrt::format::GraphId;
using cgrt::format::LaunchId;
using cgrt::format::LaunchKind;
using cgrt::format::UpdatableId;

cgrt::format::Place RequestReader::end() {
  const cgrt::format::Place place = code_.read_place();
  parser_.expect_line_end();
  return place;
}

LaunchId RequestReader::launch() {
  return {parser_.index(IrTokenKind::Launch, "a launch such as !3")};
}

void RequestReader::read_launch() {
  const SourceRange range = parser_.token().range;
  if (launch().index != program_.launches.size()) {
    parser_.fail(Diag::IrExpected, range, "!" + std::to_string(program_.launches.size()));
  }
  cgrt::format::DeviceLaunch launch;
  launch.text = parser_.string();
  const SourceRange kind = parser_.token().range;
  const std::string word = parser_.name();
  for (const auto known : {LaunchKind::Tail, LaunchKind::Detach, LaunchKind::Sibling}) {
    launch.kind = spelling(known) == word ? known : launch.kind;
  }
  if (spelling(launch.kind) != word) {
    parser_.fail(Diag::IrExpected, kind, "tail, detach or sibling");
  }
  const SourceRange target = parser_.token().range;
  targets_.emplace_back(parser_.name(), target);
  launch.place = end();
  program_.launches.push_back(std::move(launch));
}

UpdatableId RequestReader::updatable() {
  return {parser_.index(IrTokenKind::Updatable, "a launch that kernels change, such as ^3")};
}

void RequestReader::read_updatable() {
  const SourceRange range = parser_.token().range;
  if (updatable().index != program_.updatables.size()) {
    parser_.fail(Diag::IrExpected, range, "^" + std::to_string(program_.updatables.size()));
  }
  std::string name = parser_.string();
  program_.updatables.push_back({std::move(name), end()});
}

void RequestReader::read_update() {
  cgrt::format::DeviceUpdate update;
  update.text = parser_.string();
  parser_.expect_word("in");
  const SourceRange graph = parser_.token().range;
  update_graphs_.emplace_back(parser_.name(), graph);
  update.place = end();
  program_.updates.push_back(std::move(update));
}

void RequestReader::find_graphs(const IrNames<GraphId> &graphs) {
  for (std::size_t i = 0; i < targets_.size() && !parser_.failed(); ++i) {
    program_.launches[i].target = graphs.find(parser_, targets_[i].first, targets_[i].second);
  }
  for (std::size_t i = 0; i < update_graphs_.size() && !parser_.failed(); ++i) {
    const auto &[name, range] = update_graphs_[i];
    program_.updates[i].graph = graphs.find(parser_, name, range);
  }
}

} // namespace cgc
