// Programs as tests write them: text, compiled for one device.
#pragma once

#include <cgrt/cgrt.h>

#include "device_under_test.h"
#include "driver/compilation.h"

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <string>

namespace conformance {

/// A file that is removed in the end.
class SourceText {
public:
  explicit SourceText(const std::string &text)
      : path_(std::filesystem::temp_directory_path() /
              ("cgraph-conformance-" + std::to_string(getpid()) + "-" + std::to_string(next()) +
               ".cgraph")) {
    std::ofstream(path_) << text;
  }
  ~SourceText() { std::filesystem::remove(path_); }
  SourceText(const SourceText &) = delete;
  SourceText &operator=(const SourceText &) = delete;

  std::string path() const { return path_.string(); }

private:
  static int next() {
    static std::atomic<int> count = 0;
    return ++count;
  }

  std::filesystem::path path_;
};

/// For "host" or a CUDA architecture. Throws std::runtime_error with what the compiler says.
inline cgrt::Program compile_text(const std::string &text, const std::string &target) {
  const SourceText source(text);
  cgc::CompileOptions options;
  options.input = source.path();
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
};

} // namespace conformance
