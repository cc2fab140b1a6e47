// The examples, compiled for CUDA.
#pragma once

#include <cgrt/cgrt.h>

#include "device.h"
#include "driver/compilation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string>

namespace cgrt::testing {

/// examples/NAME.cgraph. The environment variable CGRAPH_BUNDLES names a folder with the examples
/// as NAME.cgb; without it they are compiled here, for the first GPU where there is one. Nothing
/// where that would need a compiler that is not there.
inline std::optional<Program> example(const std::string &name) {
  if (const char *bundles = std::getenv("CGRAPH_BUNDLES")) {
    return Program::from_file(std::string(bundles) + "/" + name + ".cgb");
  }
  cgc::CompileOptions options;
  options.input = CGRAPH_SOURCE_DIR "/examples/" + name + ".cgraph";
  options.target = cgc::Target::Cuda;
  if (cuda_device_count() > 0) {
    options.architectures = {cuda_device_architecture(0)};
  }
  std::string messages;
  const cgc::CompileResult result = cgc::compile(options, messages);
  if (result.status == cgc::CompileStatus::MachineFailed) {
    return std::nullopt;
  }
  EXPECT_EQ(result.status, cgc::CompileStatus::Done) << messages;
  return Program::from_bytes(std::as_bytes(std::span(result.output)), name);
}

} // namespace cgrt::testing
