#include "cuda/cuda_code.h"

#include "cuda/cuda_driver.h"
#include "cuda/cuda_image.h"
#include "format/scalar_type.h"

#include <algorithm>
#include <bit>
#include <optional>

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

/// Where a parameter has another size in the code than its kernel declares, CUDA would read other
/// bytes, and beyond the last one's.
class ParameterCheck {
public:
  ParameterCheck() {
    constexpr unsigned int first_version = 12040;
    find_driver_function("cuKernelGetParamInfo", get_info_, first_version);
  }

  void operator()(cudaKernel_t code, const format::Kernel &kernel, const NodeLabel &label) const {
    const std::size_t count = kernel.params.size();
    for (std::size_t index = 0; index < count; ++index) {
      const format::KernelParam &param = kernel.params[index];
      const std::size_t declared = param.is_buffer ? sizeof(void *) : format::size_of(param.type);
      const std::optional<std::size_t> actual = size_of(code, index, label);
      if (!actual) {
        refuse(label, "the code takes " + std::to_string(index) +
                          " parameters, the program gives " + std::to_string(count));
      }
      if (*actual != declared) {
        refuse(label, "parameter " + param.name + " has " + std::to_string(declared) +
                          " bytes as it is declared and " + std::to_string(*actual) +
                          " in the code");
      }
    }
    if (size_of(code, count, label)) {
      refuse(label, "the code takes more than the " + std::to_string(count) +
                        " parameters that the program gives");
    }
  }

private:
  /// Nothing behind the last parameter.
  std::optional<std::size_t> size_of(cudaKernel_t code, std::size_t index,
                                     const NodeLabel &label) const {
    std::size_t offset = 0;
    std::size_t size = 0;
    const CUresult result = get_info_(code, index, &offset, &size);
    if (result == CUDA_ERROR_INVALID_VALUE) {
      return std::nullopt;
    }
    check(as_runtime_error(result), "cuKernelGetParamInfo", label);
    return size;
  }

  [[noreturn]] static void refuse(const NodeLabel &label, const std::string &why) {
    throw Error(ErrorCode::Device, label.text() + ": " + why, label.where());
  }

  decltype(&cuKernelGetParamInfo) get_info_ = nullptr;
};

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
  const ParameterCheck check_parameters;
  libraries_.resize(program.images.size());
  functions_.reserve(program.kernels.size());
  for (std::uint32_t index = 0; index < program.kernels.size(); ++index) {
    const format::Kernel &kernel = program.kernels[index];
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
