// Programs as tests write them: text, compiled for one device.
#pragma once

#include <cgrt/cgrt.h>

#include "device_under_test.h"
#include "driver/compilation.h"

#include <span>
#include <stdexcept>
#include <string>

namespace conformance {

/// For "host" or a CUDA architecture. Throws std::runtime_error with what the compiler says.
inline cgrt::Program compile_text(const std::string &text, const std::string &target) {
  cgc::CompileOptions options;
  options.input = "test.cgraph";
  options.text = text;
  options.target = target == "host" ? cgc::Target::Host : cgc::Target::Cuda;
  options.architectures = {target};
  std::string messages;
  const cgc::CompileResult result = cgc::compile(options, messages);
  if (result.status != cgc::CompileStatus::Done) {
    throw std::runtime_error(messages);
  }
  return cgrt::Program::from_bytes(
      std::as_bytes(std::span(result.output.data(), result.output.size())));
}

/// For tests of whole programs, through the public API alone.
class ProgramsUnderTest : public KernelsUnderTest {
protected:
  cgrt::Program compile_text(const std::string &text) const {
    return conformance::compile_text(text, target());
  }

  cgrt::Device place(std::uint64_t seed = 0) const {
    return is_host() ? cgrt::Device::host({seed, 0}) : cgrt::Device::cuda(0);
  }

  /// Of its first elements, to be bound.
  template <typename T> static std::span<T> span_of(const Array<T> &array, std::size_t count) {
    return {reinterpret_cast<T *>(array.data()), count};
  }

  static void run(cgrt::Executable &graph) {
    graph.launch();
    graph.wait();
  }
};

} // namespace conformance
