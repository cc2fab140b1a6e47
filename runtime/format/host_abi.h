// What the host device and the host code of a program know of each other. Host code is a shared
// object that cgc makes of the kernels; it has no undefined symbols of ours and gets what it needs
// through a Block. cgc puts this file in front of the kernels' text, so it is C++17 and includes
// nothing.
#pragma once

namespace cgrt::host_abi {

/// Host code exports it as the unsigned int `cg_host_abi`; another one is refused.
inline constexpr unsigned version = 3;

inline constexpr const char *version_symbol = "cg_host_abi";

/// Image::architecture of host code for the machine this is compiled for.
#if defined(__x86_64__)
inline constexpr const char *architecture = "x86_64";
#elif defined(__aarch64__)
inline constexpr const char *architecture = "aarch64";
#else
#error "the host device supports x86-64 and AArch64"
#endif

/// The threads that a wait is among. Warps are 32 threads of consecutive linear index; the last one
/// of a block may have fewer. Threads that have returned are not waited for.
enum class Group : unsigned {
  Block,  ///< opens when every thread of the block waits for it
  Warp,   ///< opens when every thread of the warp that `mask` names waits for it with this mask
  Active, ///< opens in the next round, for the warp's threads that wait for it with this mask
};

/// Who a group opened for: numbers of threads for a block, bits of the threads for a warp.
struct Arrival {
  unsigned present;
  unsigned nonzero; ///< those of them that came with a value other than 0
};

/// Instead of a cudaError_t: the program has declared another stream for this graph.
inline constexpr int another_kind = -1;

/// What a kernel changes of a node that it is given: one of these.
struct NodeChange {
  enum What : unsigned { Enabled, Grid, Argument } what;
  bool enabled;
  unsigned grid[3];
  unsigned argument;        ///< its number
  unsigned long long value; ///< as in an argument slot
};

/// One block in progress. All its threads run on one worker thread.
struct Block {
  unsigned grid_dim[3];
  unsigned block_dim[3];
  unsigned block_index[3];
  unsigned cluster_dim[3];
  unsigned threads; ///< of the block
  unsigned started; ///< how many of them have begun; host code counts up
  unsigned thread;  ///< linear index of the running one; host code sets it at its begin
  bool backwards;   ///< begin with the last thread: shows a missing barrier
  unsigned char *dynamic_shared; ///< aligned to 256 bytes

  /// What each thread came with when its last group of a warp opened; for a thread that has just
  /// gone on, those present with it still hold.
  const unsigned long long *values;
  /// Suspends the calling thread until its group opens. `mask` means nothing for a block.
  Arrival (*wait)(Block *block, Group group, unsigned mask, unsigned long long value);
  /// Ends the launch with an error; does not return. The text is copied.
  void (*fault)(Block *block, const char *message);
  /// cudaGraphLaunch() and cudaGetCurrentGraphExec(); the former returns a cudaError_t.
  int (*launch_graph)(Block *block, unsigned long long executable, unsigned long long stream);
  unsigned long long (*current_graph)(Block *block);
  /// Changes a node for its later executions; returns a cudaError_t.
  int (*update_node)(Block *block, unsigned long long node, const NodeChange *change);
};

/// CUDA's named streams of device graph launch.
inline constexpr unsigned long long tail_launch = 0x0100000000000000;
inline constexpr unsigned long long fire_and_forget = 0x0200000000000000;
inline constexpr unsigned long long fire_and_forget_as_sibling = 0x0300000000000000;

/// A kernel's entry point, `cg_host_<symbol>`: runs one thread after the other until none is left
/// to begin. While a thread waits, the runner calls the entry again on another stack, so that the
/// remaining threads can begin. `arguments` holds one slot for each kernel parameter: its low bytes
/// are the scalar or the address. The entry of a `host { }` body, `cg_host_once_<symbol>`, is
/// called once for a whole launch, as one block of one thread; behind the arguments it finds six
/// slots: the extents of grid and block.
using Entry = void(Block *block, const unsigned long long *arguments);

} // namespace cgrt::host_abi
