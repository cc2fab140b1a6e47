// Graphs made by hand: each node by a bare CUDA call, kernels by their names in an image. Nothing
// is returned before the process ends.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bare {

inline void require(cudaError_t result, const char *call) {
  if (result != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorString(result));
  }
}

struct Kernel {
  cudaKernel_t function;
  unsigned blocks, threads;
};

/// Kernels, and a stream.
class Device {
public:
  explicit Device(std::string_view code) {
    const std::vector<char> aligned(code.begin(), code.end());
    require(
        cudaLibraryLoadData(&library_, aligned.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "cudaLibraryLoadData");
    require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
  }

  cudaStream_t stream() const { return stream_; }
  void wait() const { require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

  Kernel kernel(const char *name, unsigned blocks = 1, unsigned threads = 1) const {
    cudaKernel_t function = nullptr;
    require(cudaLibraryGetKernel(&function, library_, name), "cudaLibraryGetKernel");
    return {function, blocks, threads};
  }

  template <typename... Arguments> void launch(const Kernel &kernel, Arguments... arguments) const {
    std::array<void *, sizeof...(Arguments)> pointers = {&arguments...};
    require(cudaLaunchKernel(kernel.function, kernel.blocks, kernel.threads, pointers.data(), 0,
                             stream_),
            "cudaLaunchKernel");
  }

private:
  cudaLibrary_t library_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

/// A graph, or a body in one, whose nodes run in the order in which they are added.
class Sequence {
public:
  explicit Sequence(cudaGraph_t graph) : graph_(graph) {}

  template <typename... Arguments> void kernel(const Kernel &kernel, Arguments... arguments) {
    std::array<void *, sizeof...(Arguments)> pointers = {&arguments...};
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeKernel;
    params.kernel.func = kernel.function;
    params.kernel.gridDim = {kernel.blocks, 1, 1};
    params.kernel.blockDim = {kernel.threads, 1, 1};
    params.kernel.kernelParams = pointers.data();
    add(params);
  }

  /// What is added next waits for nothing.
  void begin_anew() { last_ = nullptr; }

  /// For one conditional node of this graph.
  cudaGraphConditionalHandle handle() const {
    cudaGraphConditionalHandle handle = 0;
    require(cudaGraphConditionalHandleCreate(&handle, graph_, 0, cudaGraphCondAssignDefault),
            "cudaGraphConditionalHandleCreate");
    return handle;
  }

  /// Adds a conditional node and returns its bodies.
  std::vector<Sequence> conditional(cudaGraphConditionalNodeType type,
                                    cudaGraphConditionalHandle handle, unsigned bodies = 1) {
    cudaGraphNodeParams params = {};
    params.type = cudaGraphNodeTypeConditional;
    params.conditional.handle = handle;
    params.conditional.type = type;
    params.conditional.size = bodies;
    add(params);
    const std::span<cudaGraph_t> graphs(params.conditional.phGraph_out, bodies);
    return {graphs.begin(), graphs.end()};
  }

private:
  void add(cudaGraphNodeParams &params) {
    cudaGraphNode_t node = nullptr;
    require(cudaGraphAddNode(&node, graph_, &last_, nullptr, last_ == nullptr ? 0 : 1, &params),
            "cudaGraphAddNode");
    last_ = node;
  }

  cudaGraph_t graph_;
  cudaGraphNode_t last_ = nullptr;
};

} // namespace bare
