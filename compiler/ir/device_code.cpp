#include "ir/device_code.h"

namespace cgc {

using cgrt::ScalarType;
using cgrt::format::Argument;
using cgrt::format::ConditionId;
using cgrt::format::ExprId;
using cgrt::format::KernelParam;
using cgrt::format::KernelWork;
using cgrt::format::Mode;
using cgrt::format::Region;

std::string DeviceCode::add(std::string_view prefix, KernelParam param, Argument argument) {
  param.name = std::string(prefix) + std::to_string(params_.size());
  params_.push_back(std::move(param));
  arguments_.push_back(std::move(argument));
  return params_.back().name;
}

bool DeviceCode::writes(cgrt::format::BufferId buffer) const {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto *region = std::get_if<Region>(&arguments_[i]);
    if (region != nullptr && region->buffer == buffer && params_[i].mode != Mode::In) {
      return true;
    }
  }
  return false;
}

std::string DeviceCode::scalar(ExprId value, ScalarType type) {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto *known = std::get_if<ExprId>(&arguments_[i]);
    if (known != nullptr && *known == value && params_[i].type == type) {
      return params_[i].name;
    }
  }
  return add("s", {{}, type, false, Mode::In}, value);
}

std::string DeviceCode::pointer(const Region &region, ScalarType type, bool reads, bool writes) {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    const auto *known = std::get_if<Region>(&arguments_[i]);
    if (known != nullptr && *known == region) {
      // What has been written here first is not read from outside.
      params_[i].mode = params_[i].mode == Mode::In && writes ? Mode::InOut : params_[i].mode;
      return params_[i].name;
    }
  }
  const Mode mode = !writes ? Mode::In : reads ? Mode::InOut : Mode::Out;
  return add("b", {{}, type, true, mode}, region);
}

std::string DeviceCode::handle(ConditionId condition) {
  return add("h", {{}, ScalarType::U64, false, Mode::In}, condition);
}

std::string DeviceCode::graph(cgrt::format::LaunchId launch) {
  return add("g", {{}, ScalarType::U64, false, Mode::In, true}, launch);
}

std::string DeviceCode::node(cgrt::format::UpdatableId node) {
  return add("n", {{}, ScalarType::U64, false, Mode::In}, node);
}

KernelWork DeviceCode::finish(const std::string &name, const SourceRange &range,
                              KernelInstances &kernels, LoweringContext &context) const {
  const ExprId one = context.integer(1);
  KernelWork work;
  work.kernel = kernels.device_code(name, params_, text_, range);
  work.grid = work.block = {one, one, one};
  work.cluster = {one, one, one};
  work.shared_bytes = work.cooperative = work.priority = context.integer(0);
  work.arguments = arguments_;
  return work;
}

} // namespace cgc
