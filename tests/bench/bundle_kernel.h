// A kernel of a bundle for graphs made by hand: the same machine code that cgrt runs.
#pragma once

#include "bench/bare_graph.h"
#include "cuda/cuda_image.h"
#include "format/program.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <stdexcept>
#include <vector>

namespace bare {

/// From the image that cgrt takes on the first GPU.
inline cudaKernel_t load(const cgrt::format::Program &program, cgrt::format::KernelId kernel) {
  cgrt::cuda::Capability capability;
  require(cudaDeviceGetAttribute(&capability.major, cudaDevAttrComputeCapabilityMajor, 0),
          "cudaDeviceGetAttribute");
  require(cudaDeviceGetAttribute(&capability.minor, cudaDevAttrComputeCapabilityMinor, 0),
          "cudaDeviceGetAttribute");
  const cgrt::format::Image *image = cgrt::cuda::select_image(program, kernel, capability);
  if (image == nullptr) {
    throw std::runtime_error("the bundle has no code for this GPU");
  }
  std::vector<std::byte> code = image->bytes;
  code.push_back(std::byte{0}); // which ends PTX
  cudaLibrary_t library = nullptr;
  require(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cudaLibraryLoadData");
  cudaKernel_t function = nullptr;
  require(cudaLibraryGetKernel(&function, library, program[kernel].cuda_name().c_str()),
          "cudaLibraryGetKernel");
  return function;
}

} // namespace bare
