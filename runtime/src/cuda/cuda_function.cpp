#include "cuda/cuda_function.h"

#include "cuda/cuda_driver.h"
#include "format/scalar_type.h"

namespace cgrt::cuda {

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
  // The caller's kernel may be bound to other instances, too: where all ask for the same, none
  // lowers the limit of another's.
  const std::size_t wanted = owner_ == Owner::Caller
                                 ? context.max_shared_bytes() - attributes_.sharedSizeBytes
                                 : params.shared_bytes;
  check(cudaFuncSetAttribute(kernel_, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(wanted)),
        "cudaFuncSetAttribute(MaxDynamicSharedMemorySize)", node);
  allowed_dynamic_bytes_ = wanted;
}

ParameterCheck::ParameterCheck(std::string code, ErrorCode blame)
    : code_(std::move(code)), blame_(blame) {
  constexpr unsigned int first_version = 12040;
  find_driver_function("cuKernelGetParamInfo", get_info_, first_version);
}

void ParameterCheck::operator()(cudaKernel_t handle, const format::Kernel &kernel,
                                const NodeLabel &label) const {
  const std::size_t count = kernel.params.size();
  for (std::size_t index = 0; index < count; ++index) {
    const format::KernelParam &param = kernel.params[index];
    const std::size_t declared = param.is_buffer ? sizeof(void *) : format::size_of(param.type);
    const std::optional<std::size_t> actual = size_of(handle, index, label);
    if (!actual) {
      refuse(label, code_ + " takes " + std::to_string(index) + " parameters, the program gives " +
                        std::to_string(count));
    }
    if (*actual != declared) {
      refuse(label, "parameter " + param.name + " has " + std::to_string(declared) +
                        " bytes as it is declared and " + std::to_string(*actual) + " in " + code_);
    }
  }
  if (size_of(handle, count, label)) {
    refuse(label, code_ + " takes more than the " + std::to_string(count) +
                      " parameters that the program gives");
  }
}

/// Nothing behind the last parameter.
std::optional<std::size_t> ParameterCheck::size_of(cudaKernel_t handle, std::size_t index,
                                                   const NodeLabel &label) const {
  std::size_t offset = 0;
  std::size_t size = 0;
  const CUresult result = get_info_(handle, index, &offset, &size);
  if (result == CUDA_ERROR_INVALID_VALUE) {
    return std::nullopt;
  }
  check(as_runtime_error(result), "cuKernelGetParamInfo", label);
  return size;
}

void ParameterCheck::refuse(const NodeLabel &label, const std::string &why) const {
  throw Error(blame_, label.text() + ": " + why, label.where());
}

namespace {

/// Whether CUDA says that it does not know the function.
bool is_unknown(cudaError_t result) {
  return result == cudaErrorInvalidDeviceFunction || result == cudaErrorInvalidResourceHandle ||
         result == cudaErrorInvalidValue;
}

} // namespace

std::unique_ptr<Function> wrap_function(const format::Kernel &kernel, const void *function,
                                        const NodeLabel &label) {
  // CUDA knows the `__global__` functions that were registered with this copy of its runtime;
  // anything else can only be a handle.
  auto *handle = static_cast<cudaKernel_t>(const_cast<void *>(function));
  const cudaError_t found = cudaGetKernel(&handle, function);
  if (is_unknown(found)) {
    static_cast<void>(cudaGetLastError());
    handle = static_cast<cudaKernel_t>(const_cast<void *>(function));
  } else {
    check(found, "cudaGetKernel", label);
  }
  cudaFuncAttributes attributes{};
  const cudaError_t result = cudaFuncGetAttributes(&attributes, handle);
  if (is_unknown(result)) {
    static_cast<void>(cudaGetLastError());
    throw Error(ErrorCode::Usage,
                label.text() + ": what is bound to it is neither a __global__ function of the CUDA "
                               "runtime that cgrt is linked with nor a cudaKernel_t; "
                               "cudaGetKernel() makes one of the other",
                label.where());
  }
  check(result, "cudaFuncGetAttributes", label);
  ParameterCheck("the function bound to it", ErrorCode::Usage)(handle, kernel, label);
  return std::make_unique<CudaFunction>(handle, attributes, CudaFunction::Owner::Caller);
}

} // namespace cgrt::cuda
