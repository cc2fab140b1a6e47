#include "cuda/cuda_code.h"

#include "cuda/cuda_image.h"

#include <bit>

namespace cgrt::cuda {

namespace {

[[noreturn]] void refuse(const format::Program &program, const Context &context) {
  std::string text;
  for (const format::Image &image : program.images) {
    text += text.empty() ? "" : ", ";
    text += std::string(format::spelling(image.kind)) + " for " + image.architecture;
  }
  const std::string own = "sm_" + std::to_string(number_of(context.capability()));
  throw Error(ErrorCode::Device, context.name() + " is " + own + ", and the program holds " +
                                     (text.empty() ? "no code at all" : "only " + text) +
                                     "; compile it with --arch=" + own);
}

} // namespace

void CudaFunction::prepare(const KernelParams &params, const Context &context,
                           const NodeLabel &node) const {
  const std::uint64_t threads = std::uint64_t{params.block.x} * params.block.y * params.block.z;
  const auto max_threads = static_cast<std::uint64_t>(attributes_.maxThreadsPerBlock);
  if (threads > max_threads) {
    throw Error(ErrorCode::Device,
                node.text() + ": a block of " + std::to_string(threads) +
                    " threads is too large for this kernel on " + context.name() +
                    ": it runs at most " + std::to_string(max_threads) + ", having " +
                    std::to_string(attributes_.numRegs) + " registers a thread [geometry]",
                node.where());
  }
  if (params.shared_bytes <= allowed_dynamic_bytes_) {
    return;
  }
  if (attributes_.sharedSizeBytes + params.shared_bytes > context.max_shared_bytes()) {
    throw Error(ErrorCode::Device,
                node.text() + ": " + std::to_string(params.shared_bytes) +
                    " bytes of dynamic and " + std::to_string(attributes_.sharedSizeBytes) +
                    " of static shared memory are more than the " +
                    std::to_string(context.max_shared_bytes()) + " of a block on " +
                    context.name() + " [geometry]",
                node.where());
  }
  check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(params.shared_bytes)),
        "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)", node);
  allowed_dynamic_bytes_ = params.shared_bytes;
}

CudaCode::CudaCode(std::shared_ptr<const Context> context, const format::Program &program)
    : context_(std::move(context)) {
  if (program.kernels.empty()) {
    return;
  }
  const format::Image *image = select_image(program, context_->capability());
  if (image == nullptr) {
    refuse(program, *context_);
  }
  const Current current = context_->make_current();
  load_library(*image);
  try {
    load_functions(program);
  } catch (...) {
    check_in_destructor(cudaLibraryUnload(library_));
    throw;
  }
}

CudaCode::~CudaCode() {
  if (library_ != nullptr) {
    const Current current = context_->make_current(std::nothrow);
    check_in_destructor(cudaLibraryUnload(library_));
  }
}

void CudaCode::load_library(const format::Image &image) {
  check_whole(image);
  // PTX has to end in a NUL; a cubin does not mind one. The driver keeps a copy of its own.
  const std::string code(reinterpret_cast<const char *>(image.bytes.data()), image.bytes.size());
  std::array<cudaJitOption, 2> options = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  std::array<void *, 2> values = {jit_log_.data(), std::bit_cast<void *>(jit_log_.size() - 1)};
  const cudaError_t result = cudaLibraryLoadData(
      &library_, code.c_str(), options.data(), values.data(), options.size(), nullptr, nullptr, 0);
  check(result, "cudaLibraryLoadData", {"code for " + image.architecture, {}}, jit_log_.data());
}

void CudaCode::load_functions(const format::Program &program) {
  functions_.reserve(program.kernels.size());
  for (const format::Kernel &kernel : program.kernels) {
    const NodeLabel label{"kernel " + kernel.name, program.locate(kernel.place)};
    cudaKernel_t handle = nullptr;
    // Loading is lazy: the first use shows what the code lacks, and it had better be here.
    check(cudaLibraryGetKernel(&handle, library_, kernel.symbol.c_str()), "cudaLibraryGetKernel",
          label, jit_log_.data());
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, handle), "cudaFuncGetAttributes", label,
          jit_log_.data());
    functions_.emplace_back(handle, attributes);
  }
}

} // namespace cgrt::cuda
