// C = relu(A · B): a graph whose product is cuBLAS's. Runs it, binds another product, runs it
// again.
//
//   cgc gemm_cublas.cgraph && gemm_cublas gemm_cublas.cgb [host|cuda]
//
// Exit status: 0 right, 1 wrong or an error, 2 wrong usage, 77 no GPU.
#include "example.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace {

void require(cublasStatus_t status, const char *call) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": " + cublasGetStatusString(status));
  }
}

/// A handle with a workspace of its own: cuBLAS would else allocate while its calls are captured.
/// Calls of one captured function are never concurrent unless it is declared @concurrent, so that
/// one workspace serves them all.
class Cublas {
public:
  Cublas() {
    require(cublasCreate(&handle_), "cublasCreate");
    if (cudaMalloc(&workspace_, workspace_bytes) != cudaSuccess) {
      throw std::runtime_error("no memory for cuBLAS's workspace");
    }
  }
  ~Cublas() {
    cublasDestroy(handle_);
    cudaFree(workspace_);
  }
  Cublas(const Cublas &) = delete;
  Cublas &operator=(const Cublas &) = delete;

  /// C = alpha A · B, row by row: what cuBLAS, column by column, takes for Cᵀ = alpha Bᵀ · Aᵀ.
  void multiply(cudaStream_t stream, float alpha, int m, int n, int k, const float *a,
                const float *b, float *c) {
    const float beta = 0;
    require(cublasSetStream(handle_, stream), "cublasSetStream");
    require(cublasSetWorkspace(handle_, workspace_, workspace_bytes), "cublasSetWorkspace");
    require(
        cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &alpha, b, n, a, k, &beta, c, n),
        "cublasSgemm");
  }

private:
  static constexpr std::size_t workspace_bytes = 32 << 20;
  cublasHandle_t handle_ = nullptr;
  void *workspace_ = nullptr;
};

/// Rows of whole numbers so small that every sum is exact, whatever its order.
void fill(std::span<float> values, unsigned seed) {
  std::mt19937 random(seed);
  std::generate(values.begin(), values.end(),
                [&random] { return static_cast<float>(random() % 9) - 4; });
}

std::size_t wrong_elements(cgrt::Instance &instance, float alpha) {
  const std::span<const float> a = instance.host<float>("ha");
  const std::span<const float> b = instance.host<float>("hb");
  const std::span<const float> c = instance.host<float>("hc");
  const std::size_t k = instance.buffer("hb").shape[0];
  const std::size_t n = instance.buffer("hb").shape[1];
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < c.size(); ++at) {
    double sum = 0;
    for (std::size_t i = 0; i < k; ++i) {
      sum += double{a[at / n * k + i]} * double{b[i * n + at % n]};
    }
    wrong += c[at] == std::max(alpha * sum, 0.0) ? 0 : 1;
  }
  return wrong;
}

void bind(cgrt::Instance &instance, const cgrt::Device &device, float alpha) {
  if (device.is_cuda()) {
    instance.bind_captured("gemm", [cublas = std::make_shared<Cublas>(), alpha](
                                       cudaStream_t stream, std::int32_t m, std::int32_t n,
                                       std::int32_t k, const float *a, const float *b, float *c) {
      cublas->multiply(stream, alpha, m, n, k, a, b, c);
    });
    return;
  }
  instance.bind_host("gemm", [alpha](std::int32_t m, std::int32_t n, std::int32_t k,
                                     std::span<const float> a, std::span<const float> b,
                                     std::span<float> c) {
    for (std::int32_t row = 0; row < m; ++row) {
      for (std::int32_t column = 0; column < n; ++column) {
        float sum = 0;
        for (std::int32_t i = 0; i < k; ++i) {
          sum += a[row * k + i] * b[i * n + column];
        }
        c[row * n + column] = alpha * sum;
      }
    }
  });
}

int run(const cgrt::Program &program, const cgrt::Device &device) {
  cgrt::Instance instance(program, device);
  fill(instance.host<float>("ha"), 1);
  fill(instance.host<float>("hb"), 2);
  bind(instance, device, 1);
  cgrt::Executable graph = instance.executable();
  std::size_t wrong = 0;
  for (const float alpha : {1.0F, -2.0F}) {
    bind(instance, device, alpha); // the executable goes on with the new one
    for (int replay = 0; replay < 3; ++replay) {
      std::ranges::fill(instance.host<float>("hc"), -1.0F); // no result
      graph.launch();
      graph.wait();
      wrong += wrong_elements(instance, alpha);
    }
  }
  std::printf("gemm_cublas on %s: %zu nodes, %zu wrong elements in 6 replays\n",
              device.name().c_str(), graph.node_count(), wrong);
  return wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return example::main(argc, argv, run);
}
