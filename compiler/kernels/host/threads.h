// CUDA's execution model for host code: qualifiers, built-in variables, shared memory, barriers,
// assert, trap and conditional handles. All threads of a block run on one worker thread, so what a
// block shares is thread-local there.
#pragma once

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(bytes) alignas(bytes)
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(...)
// cgc rewrites the declarations that have it: see shared_memory.h of cgc.
#define __shared__ static thread_local
#ifndef __clang__
#define __builtin_assume(condition) static_cast<void>(0)
#endif

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
#define NULL __null

extern "C" {
int printf(const char *format, ...);
int snprintf(char *text, size_t bytes, const char *format, ...);
void *memcpy(void *destination, const void *source, size_t bytes);
void *memset(void *destination, int value, size_t bytes);
void *malloc(size_t bytes);
void free(void *memory);
}

static thread_local uint3 threadIdx, blockIdx;
static thread_local dim3 blockDim, gridDim;
static constexpr int warpSize = 32;

namespace cg_host {

using cgrt::host_abi::Arrival;
using cgrt::host_abi::Block;
using cgrt::host_abi::Group;

static thread_local Block *block;
/// Counts the blocks that this worker thread has begun.
static thread_local unsigned long long block_serial;

/// The value of kernel parameter `index`.
template <typename T> inline T argument(const unsigned long long *arguments, unsigned index) {
  T value;
  __builtin_memcpy(&value, arguments + index, sizeof(T));
  return value;
}

/// Called at each entry into a kernel: the first of a block, and one for each stack more.
inline void enter(Block *entered) {
  block = entered;
  block_serial += entered->started == 0 ? 1 : 0;
  blockIdx = {entered->block_index[0], entered->block_index[1], entered->block_index[2]};
  blockDim = {entered->block_dim[0], entered->block_dim[1], entered->block_dim[2]};
  gridDim = {entered->grid_dim[0], entered->grid_dim[1], entered->grid_dim[2]};
}

/// Makes the next thread the current one, or returns false when none is left to begin.
inline bool next_thread(Block *entered) {
  if (entered->started == entered->threads) {
    return false;
  }
  unsigned index = entered->started++;
  if (entered->backwards) {
    index = entered->threads - 1 - index;
  }
  // Written for each thread, although no one may read it: a fault tells whose it was.
  *static_cast<volatile unsigned *>(&entered->thread) = index;
  if (index < blockDim.x) {
    threadIdx = {index, 0, 0};
  } else {
    threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y,
                 index / blockDim.x / blockDim.y};
  }
  return true;
}

inline Arrival wait(Group group, unsigned mask = 0, unsigned long long value = 0) {
  const uint3 waiting = threadIdx;
  const Arrival arrival = block->wait(block, group, mask, value);
  threadIdx = waiting;
  return arrival;
}

/// The dynamic shared memory as an array of the declared type.
template <typename T> inline T &dynamic_shared() {
  return *reinterpret_cast<T *>(block->dynamic_shared);
}

/// Makes a shared variable undefined at its first use in a block, as it is on a GPU: what a thread
/// reads without anyone having written it shows. `seen` belongs to the variable.
inline void begin_shared(const volatile void *data, size_t bytes, unsigned long long &seen) {
  if (seen != block_serial) {
    seen = block_serial;
    __builtin_memset(const_cast<void *>(data), 0xFF, bytes);
  }
}

/// Ends the launch. `condition` with its place is null for what has none.
[[noreturn]] __noinline__ static void fault(const char *what, const char *condition,
                                            const char *file, unsigned line) {
  char message[600];
  const int used =
      snprintf(message, sizeof message, "%s in block (%u, %u, %u), thread (%u, %u, %u)", what,
               blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z);
  if (condition != nullptr) {
    const char *slash = __builtin_strrchr(file, '/');
    snprintf(message + used, sizeof message - used, ": %s:%u: %s",
             slash == nullptr ? file : slash + 1, line, condition);
  }
  block->fault(block, message);
  __builtin_unreachable();
}

} // namespace cg_host

#define assert(...)                                                                                \
  ((__VA_ARGS__) ? (void)0 : cg_host::fault("assertion failed", #__VA_ARGS__, __FILE__, __LINE__))

inline void __syncthreads() {
  cg_host::wait(cg_host::Group::Block);
}
inline int __syncthreads_count(int predicate) {
  return static_cast<int>(cg_host::wait(cg_host::Group::Block, 0, predicate != 0).nonzero);
}
inline int __syncthreads_or(int predicate) {
  return __syncthreads_count(predicate) != 0;
}
inline int __syncthreads_and(int predicate) {
  return __syncthreads_count(predicate == 0) == 0;
}
[[noreturn]] inline void __trap() {
  cg_host::fault("trap", nullptr, nullptr, 0);
}
/// The host device's handles are the addresses of their values.
inline void cudaGraphSetConditional(unsigned long long handle, unsigned int value) {
  *reinterpret_cast<unsigned int *>(handle) = value;
}

// Device graph launch.
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUstream_st *cudaStream_t;
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorNotSupported = 801 };
typedef cudaError cudaError_t;
#define cudaStreamGraphTailLaunch ((cudaStream_t)cgrt::host_abi::tail_launch)
#define cudaStreamGraphFireAndForget ((cudaStream_t)cgrt::host_abi::fire_and_forget)
#define cudaStreamGraphFireAndForgetAsSibling                                                      \
  ((cudaStream_t)cgrt::host_abi::fire_and_forget_as_sibling)
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  const int error =
      cg_host::block->launch_graph(cg_host::block, reinterpret_cast<unsigned long long>(executable),
                                   reinterpret_cast<unsigned long long>(stream));
  if (error == cgrt::host_abi::another_kind) {
    cg_host::fault("cudaGraphLaunch with another stream than the kernel's parameter says (tail, "
                   "detach or sibling)",
                   nullptr, nullptr, 0);
  }
  return static_cast<cudaError_t>(error);
}
inline cudaGraphExec_t cudaGetCurrentGraphExec() {
  return reinterpret_cast<cudaGraphExec_t>(cg_host::block->current_graph(cg_host::block));
}

// Device node update. A parameter is named by its number here, and by its offset on a GPU.
typedef struct CUgraphDeviceUpdatableNode_st *cudaGraphDeviceNode_t;
namespace cg_host {
inline cudaError_t update(cudaGraphDeviceNode_t node, const cgrt::host_abi::NodeChange &change) {
  return static_cast<cudaError_t>(
      block->update_node(block, reinterpret_cast<unsigned long long>(node), &change));
}
inline cudaError_t set_argument(cudaGraphDeviceNode_t node, unsigned argument, const void *value,
                                size_t bytes) {
  cgrt::host_abi::NodeChange change{};
  change.what = cgrt::host_abi::NodeChange::Argument;
  change.argument = argument;
  __builtin_memcpy(&change.value, value, bytes);
  return update(node, change);
}
} // namespace cg_host
#define CG_SET_ARGUMENT(node, number, offset, value)                                               \
  cg_host::set_argument(node, number, &(value), sizeof(value))
inline cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable) {
  cgrt::host_abi::NodeChange change{};
  change.what = cgrt::host_abi::NodeChange::Enabled;
  change.enabled = enable;
  return cg_host::update(node, change);
}
inline cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 grid) {
  cgrt::host_abi::NodeChange change{};
  change.what = cgrt::host_abi::NodeChange::Grid;
  change.grid[0] = grid.x;
  change.grid[1] = grid.y;
  change.grid[2] = grid.z;
  return cg_host::update(node, change);
}

inline void __threadfence() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_block() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
inline void __threadfence_system() {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/// Lets the other threads of the block go on, so that one may wait for what another does.
inline void __nanosleep(unsigned) {
  cg_host::wait(cg_host::Group::Active, ~0U);
}

inline long long clock64() {
#ifdef __x86_64__
  return static_cast<long long>(__builtin_ia32_rdtsc());
#else
  long long ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
typedef long clock_t;
inline clock_t clock() {
  return static_cast<clock_t>(clock64());
}

// A cluster's blocks run on their own here: its shape is known, its barrier and distributed shared
// memory are not offered.
inline dim3 __clusterDim() {
  const unsigned(&dim)[3] = cg_host::block->cluster_dim;
  return {dim[0], dim[1], dim[2]};
}
inline dim3 __clusterIdx() {
  const dim3 dim = __clusterDim();
  return {blockIdx.x / dim.x, blockIdx.y / dim.y, blockIdx.z / dim.z};
}
inline dim3 __clusterGridDimInClusters() {
  const dim3 dim = __clusterDim();
  return {gridDim.x / dim.x, gridDim.y / dim.y, gridDim.z / dim.z};
}
inline dim3 __clusterRelativeBlockIdx() {
  const dim3 dim = __clusterDim();
  return {blockIdx.x % dim.x, blockIdx.y % dim.y, blockIdx.z % dim.z};
}
inline unsigned __clusterSizeInBlocks() {
  const dim3 dim = __clusterDim();
  return dim.x * dim.y * dim.z;
}
inline unsigned __clusterRelativeBlockRank() {
  const dim3 dim = __clusterDim(), at = __clusterRelativeBlockIdx();
  return (at.z * dim.y + at.y) * dim.x + at.x;
}
