#include "program_loader.h"

#include "stopwatch.h"
#include "usage.h"

#include "device.h"
#include "driver/compilation.h"
#include "format/bundle.h"
#include "kernels/kernel_compiler.h"

#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Process.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace cgrun {

namespace {

std::unique_ptr<llvm::MemoryBuffer> read_file(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file) {
    throw cgrt::Error(cgrt::ErrorCode::InvalidProgram,
                      "cannot read " + path + ": " + file.getError().message());
  }
  return std::move(*file);
}

std::span<const std::byte> bytes_of(llvm::StringRef text) {
  return {reinterpret_cast<const std::byte *>(text.data()), text.size()};
}

bool has_cuda_code(const cgrt::Program &program) {
  return std::ranges::any_of(program.contents().images, [](const cgrt::format::Image &image) {
    return image.kind != cgrt::format::ImageKind::HostSharedObject;
  });
}

/// `why_not_cuda` says why the program cannot run on a GPU; empty: it can.
cgrt::Device choose_device(const Options &options, std::string why_not_cuda, Progress &progress) {
  const cgrt::HostOptions host{.seed = options.seed};
  if (options.device == DeviceKind::Host) {
    return cgrt::Device::host(host);
  }
  if (options.device == DeviceKind::Cuda) {
    return cgrt::Device::cuda(options.ordinal);
  }
  std::string reason;
  cgrt::Device device = cgrt::Device::automatic(host, &reason);
  if (device.is_cuda() && !why_not_cuda.empty()) {
    device = cgrt::Device::host(host);
    reason = std::move(why_not_cuda);
  }
  if (!device.is_cuda()) {
    progress.say("cgrun: running on the host device: " + reason + "\n");
  }
  return device;
}

LoadResult load_bundle(const llvm::MemoryBuffer &file, const Options &options, Progress &progress) {
  const Stopwatch watch;
  const cgrt::Program program =
      cgrt::Program::from_bytes(bytes_of(file.getBuffer()), options.input);
  const double load_us = watch.microseconds();
  const std::string why_not_cuda =
      has_cuda_code(program) ? "" : "the bundle has no code for CUDA devices";
  return {0, LoadedProgram{program, choose_device(options, why_not_cuda, progress), 0, load_us}};
}

LoadResult compile_source(const Options &options, Progress &progress) {
  std::string why_not_cuda;
  cgc::cuda_compiler_available(&why_not_cuda);
  cgrt::Device device = choose_device(options, why_not_cuda, progress);
  cgc::CompileOptions compile_options;
  compile_options.input = options.input;
  compile_options.defines = options.defines;
  compile_options.include_folders = options.include_folders;
  compile_options.target = device.is_cuda() ? cgc::Target::Cuda : cgc::Target::Host;
  if (device.is_cuda()) {
    compile_options.architectures = {cgrt::cuda_device_architecture(options.ordinal)};
  }
  compile_options.colors = llvm::sys::Process::StandardErrHasColors();

  progress.begin("compiling " + options.input);
  const Stopwatch compile_watch;
  std::string messages;
  const cgc::CompileResult result = cgc::compile(compile_options, messages);
  const double compile_us = compile_watch.microseconds();
  progress.say(messages);
  if (result.status != cgc::CompileStatus::Done) {
    return {static_cast<int>(result.status), std::nullopt};
  }
  const Stopwatch load_watch;
  const cgrt::Program program = cgrt::Program::from_bytes(bytes_of(result.output), options.input);
  return {0, LoadedProgram{program, device, compile_us, load_watch.microseconds()}};
}

} // namespace

LoadResult load_program(const Options &options, Progress &progress) {
  const std::unique_ptr<llvm::MemoryBuffer> file = read_file(options.input);
  // A damaged bundle may not look like one any more; its name then still says what it was.
  if (cgrt::format::looks_like_bundle(bytes_of(file->getBuffer())) ||
      std::string_view(options.input).ends_with(".cgb")) {
    return load_bundle(*file, options, progress);
  }
  return compile_source(options, progress);
}

} // namespace cgrun
