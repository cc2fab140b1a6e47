// A low-pass filter: a graph whose transforms are cuFFT's.
//
//   cgc lowpass_cufft.cgraph && lowpass_cufft lowpass_cufft.cgb [host|cuda]
//
// Exit status: 0 right, 1 wrong or an error, 2 wrong usage, 77 no GPU.
#include "example.h"

#include <cufft.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace {

void require(cufftResult result, const char *call) {
  if (result != CUFFT_SUCCESS) {
    throw std::runtime_error(std::string(call) + ": cuFFT error " + std::to_string(result));
  }
}

/// A plan for one transform of n samples. It allocates its work area when it is made.
class Plan {
public:
  Plan(int n, cufftType type) { require(cufftPlan1d(&plan_, n, type, 1), "cufftPlan1d"); }
  ~Plan() { cufftDestroy(plan_); }
  Plan(const Plan &) = delete;
  Plan &operator=(const Plan &) = delete;

  cufftHandle on(cudaStream_t stream) const {
    require(cufftSetStream(plan_, stream), "cufftSetStream");
    return plan_;
  }

private:
  cufftHandle plan_ = 0;
};

void bind_cufft(cgrt::Instance &instance, std::int32_t size) {
  instance.bind_captured(
      "forward", [plan = std::make_shared<Plan>(size, CUFFT_R2C)](cudaStream_t stream, std::int32_t,
                                                                  const float *x, float *spectrum) {
        // Out of place, a transform to complex numbers leaves its input as it is.
        require(cufftExecR2C(plan->on(stream), const_cast<float *>(x),
                             reinterpret_cast<cufftComplex *>(spectrum)),
                "cufftExecR2C");
      });
  instance.bind_captured(
      "inverse", [plan = std::make_shared<Plan>(size, CUFFT_C2R)](cudaStream_t stream, std::int32_t,
                                                                  float *spectrum, float *x) {
        require(cufftExecC2R(plan->on(stream), reinterpret_cast<cufftComplex *>(spectrum), x),
                "cufftExecC2R");
      });
}

std::complex<double> turn(std::size_t numerator, std::size_t n) {
  return std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(numerator % n) /
                             static_cast<double>(n));
}

/// The transforms as they are defined, for the host device.
void bind_sums(cgrt::Instance &instance) {
  instance.bind_host("forward",
                     [](std::int32_t, std::span<const float> x, std::span<float> spectrum) {
                       for (std::size_t k = 0; k < spectrum.size() / 2; ++k) {
                         std::complex<double> sum = 0;
                         for (std::size_t i = 0; i < x.size(); ++i) {
                           sum += double{x[i]} * std::conj(turn(k * i, x.size()));
                         }
                         spectrum[2 * k] = static_cast<float>(sum.real());
                         spectrum[2 * k + 1] = static_cast<float>(sum.imag());
                       }
                     });
  instance.bind_host("inverse", [](std::int32_t, std::span<float> spectrum, std::span<float> x) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < spectrum.size() / 2; ++k) {
        const std::complex<double> value(spectrum[2 * k], spectrum[2 * k + 1]);
        // All but the first and, of an even number, the last stand for their mirror image, too.
        const double weight = k == 0 || 2 * k == x.size() ? 1 : 2;
        sum += weight * (value * turn(k * i, x.size())).real();
      }
      x[i] = static_cast<float>(sum);
    }
  });
}

/// sin of `frequency` turns in n samples
double wave(std::size_t frequency, std::size_t i, std::size_t n) {
  return turn(frequency * i, n).imag();
}

int run(const cgrt::Program &program, const cgrt::Device &device) {
  double worst = 0;
  for (const std::int32_t size : {1024, 1000}) {
    cgrt::Instance instance(program, device, {{"n", size}});
    device.is_cuda() ? bind_cufft(instance, size) : bind_sums(instance);
    cgrt::Executable graph = instance.executable();
    const std::span<float> x = instance.host<float>("hx");
    const std::span<const float> y = instance.host<float>("hy");
    for (const double loud : {1.0, 3.0}) {
      // Of 0.5, 3 turns and 100 turns, the first two pass.
      for (std::size_t i = 0; i < x.size(); ++i) {
        x[i] = static_cast<float>(0.5 + loud * wave(3, i, x.size()) + wave(100, i, x.size()));
      }
      graph.launch();
      graph.wait();
      for (std::size_t i = 0; i < y.size(); ++i) {
        const double error = std::abs(y[i] - (0.5 + loud * wave(3, i, x.size())));
        worst = std::isnan(error) ? error : std::max(worst, error);
      }
    }
  }
  std::printf("lowpass_cufft on %s: the largest error is %.2g\n", device.name().c_str(), worst);
  return worst < 1e-5 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return example::main(argc, argv, run);
}
