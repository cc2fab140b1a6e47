// What an Executable holds; made by Instance::executable().
#pragma once

#include "device.h"

#include <cgrt/cgrt.h>

#include <memory>

namespace cgrt {

struct Executable::State {
  std::shared_ptr<const void> instance; ///< keeps memory, code and device alive
  std::unique_ptr<DeviceExecutable> executable;
  std::size_t nodes = 0;
  std::size_t edges = 0;
  BuildTimes times;
};

} // namespace cgrt
