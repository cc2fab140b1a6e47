#include "cuda/cuda_code.h"

#include "cuda/cuda_image.h"

#include <algorithm>
#include <bit>

namespace cgrt::cuda {

namespace {

/// No image of a kernel fits.
[[noreturn]] void refuse(const format::Program &program, format::KernelId id,
                         const Context &context) {
  std::string text;
  for (const format::Image &image : program.images) {
    if (std::binary_search(image.kernels.begin(), image.kernels.end(), id)) {
      text += (text.empty() ? "" : ", ") + std::string(format::spelling(image.kind)) + " for " +
              image.architecture;
    }
  }
  const format::Kernel &kernel = program[id];
  const std::string own = "sm_" + std::to_string(number_of(context.capability()));
  throw Error(ErrorCode::Device,
              "kernel " + kernel.name + ": " + context.name() + " is " + own +
                  ", and the program holds " + (text.empty() ? "no code at all" : "only " + text) +
                  "; compile it with --arch=" + own,
              program.locate(kernel.place));
}

} // namespace

CudaLibrary::CudaLibrary(std::shared_ptr<const Context> context, const format::Image &image)
    : context_(std::move(context)) {
  check_whole(image);
  // PTX has to end in a NUL; other code does not mind one. The driver keeps a copy of its own.
  const std::string code(reinterpret_cast<const char *>(image.bytes.data()), image.bytes.size());
  std::array<cudaJitOption, 2> options = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  std::array<void *, 2> values = {jit_log_.data(), std::bit_cast<void *>(jit_log_.size() - 1)};
  const cudaError_t result = cudaLibraryLoadData(
      &library_, code.c_str(), options.data(), values.data(), options.size(), nullptr, nullptr, 0);
  const std::string name =
      image.kind == format::ImageKind::Fatbin ? "the fatbin" : "code for " + image.architecture;
  check(result, "cudaLibraryLoadData", {name, {}}, jit_log_.data());
}

CudaLibrary::~CudaLibrary() {
  const Current current = context_->make_current(std::nothrow);
  check_in_destructor(cudaLibraryUnload(library_));
}

CudaFunction CudaLibrary::load(const format::Kernel &kernel, const NodeLabel &label) const {
  cudaKernel_t handle = nullptr;
  check(cudaLibraryGetKernel(&handle, library_, kernel.cuda_name().c_str()), "cudaLibraryGetKernel",
        label, jit_log_.data());
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, handle), "cudaFuncGetAttributes", label,
        jit_log_.data());
  return {handle, attributes};
}

CudaCode::CudaCode(const std::shared_ptr<const Context> &context, const format::Program &program) {
  if (program.kernels.empty()) {
    return;
  }
  const Current current = context->make_current();
  const ParameterCheck check_parameters("the code", ErrorCode::Device);
  libraries_.resize(program.images.size());
  functions_.reserve(program.kernels.size());
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    const format::Kernel &kernel = program.kernels[index];
    if (kernel.external) {
      functions_.emplace_back(nullptr, cudaFuncAttributes{});
      continue;
    }
    const format::Image *image = select_image(program, {index}, context->capability());
    if (image == nullptr) {
      refuse(program, {index}, *context);
    }
    auto &library = libraries_[static_cast<std::size_t>(image - program.images.data())];
    if (library == nullptr) {
      library = std::make_unique<CudaLibrary>(context, *image);
    }
    const NodeLabel label{"kernel " + kernel.name, program.locate(kernel.place)};
    functions_.push_back(library->load(kernel, label));
    check_parameters(functions_.back().kernel(), kernel, label);
  }
}

} // namespace cgrt::cuda
