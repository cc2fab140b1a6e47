// One GPU: its primary context, one stream, and the facts that checks need.
#pragma once

#include "cuda/cuda_check.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_image.h"

#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <string>

namespace cgrt::cuda {

/// The context that the GPU shares with the rest of the process, held for this object's lifetime.
/// It is made current by push and pop, for a scope and a thread: cudaSetDevice would leave the
/// caller's thread on another device or take away a context of the caller's own.
class PrimaryContext {
public:
  explicit PrimaryContext(int ordinal);
  ~PrimaryContext();
  PrimaryContext(const PrimaryContext &) = delete;
  PrimaryContext &operator=(const PrimaryContext &) = delete;

  CUcontext handle() const { return context_; }

private:
  friend class Current;

  // The driver's functions, which the CUDA runtime finds: there is no libcuda to link.
  decltype(&cuDeviceGet) get_device_ = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_ = nullptr;
  decltype(&cuDevicePrimaryCtxRelease) release_ = nullptr;
  decltype(&cuCtxGetCurrent) get_current_ = nullptr;
  decltype(&cuCtxPushCurrent) push_ = nullptr;
  decltype(&cuCtxPopCurrent) pop_ = nullptr;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// Makes a context current for its own lifetime; the thread's context before is back afterwards.
/// Costs next to nothing where the context is current already.
class Current {
public:
  explicit Current(const PrimaryContext &context);
  /// For destructors: what they call finds its context by the handle it is given.
  Current(const PrimaryContext &context, std::nothrow_t) noexcept;
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  CUresult push() noexcept;

  const PrimaryContext &context_;
  bool pushed_ = false;
};

class Context {
public:
  /// Error{Device} where there is no such GPU or it cannot be used.
  explicit Context(int ordinal);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  /// Error{Device} where the GPU has been lost: a kernel has failed in a way that leaves nothing of
  /// the context usable (CUDA's "sticky" errors).
  [[nodiscard]] Current make_current() const {
    if (is_lost_.load(std::memory_order_acquire)) [[unlikely]] {
      refuse_lost();
    }
    return Current(primary_);
  }
  [[nodiscard]] Current make_current(std::nothrow_t tag) const noexcept { return {primary_, tag}; }
  CUcontext handle() const { return primary_.handle(); }
  cudaStream_t stream() const { return stream_; }
  /// For stream capture; stays, since libraries keep memory for each stream they have seen.
  cudaStream_t capture_stream() const { return capture_stream_; }
  int ordinal() const { return ordinal_; }
  /// "cuda:0 NVIDIA H200"
  const std::string &name() const { return name_; }
  Capability capability() const { return capability_; }
  /// Static plus dynamic shared memory that one block may have when its kernel opts in.
  std::size_t max_shared_bytes() const { return max_shared_bytes_; }
  /// How many blocks of a cooperative launch are on the GPU at once, where so many fit each of its
  /// multiprocessors.
  std::uint64_t cooperative_blocks(int on_each) const {
    return static_cast<std::uint64_t>(on_each) * static_cast<std::uint64_t>(multiprocessors_);
  }
  /// Queues the executable; this context is current. The driver's call, since the runtime's does
  /// the same with a few tens of nanoseconds more around it.
  void launch(cudaGraphExec_t executable, cudaStream_t stream) const {
    const CUresult result = graph_launch_(executable, stream);
    if (result != CUDA_SUCCESS) [[unlikely]] {
      fail(as_runtime_error(result), "cuGraphLaunch");
    }
  }
  /// New params of a kernel node; this context is current or in them. The driver's call for the
  /// same reason.
  cudaError_t set_params(cudaGraphExec_t executable, cudaGraphNode_t node,
                         const CUDA_KERNEL_NODE_PARAMS &params) const {
    return as_runtime_error(set_kernel_params_(executable, node, &params));
  }
  /// Waits for what is on a stream; this context is current.
  void finish(cudaStream_t stream) const {
    const cudaError_t result = cudaStreamSynchronize(stream);
    if (result != cudaSuccess) [[unlikely]] {
      fail(result, "running the graph on " + name_);
    }
  }
  /// The nearest priority that the GPU has.
  int priority(int wanted) const { return std::clamp(wanted, first_priority_, last_priority_); }

private:
  /// Notes whether the GPU is lost, and throws.
  [[noreturn]] void fail(cudaError_t result, std::string_view call) const;
  [[noreturn]] void refuse_lost() const;

  PrimaryContext primary_;
  mutable std::atomic<bool> is_lost_ = false;
  mutable std::string why_lost_; ///< written once, before is_lost_
  mutable std::mutex losing_;
  int ordinal_;
  std::string name_;
  Capability capability_;
  std::size_t max_shared_bytes_ = 0;
  int multiprocessors_ = 0;
  int first_priority_ = 0; ///< the lower number
  int last_priority_ = 0;
  cudaStream_t stream_ = nullptr;
  cudaStream_t capture_stream_ = nullptr;
  decltype(&cuGraphLaunch) graph_launch_ = nullptr;
  decltype(&cuGraphExecKernelNodeSetParams) set_kernel_params_ = nullptr;
};

/// The compute capability of a device that exists.
Capability capability_of(int ordinal);

} // namespace cgrt::cuda
