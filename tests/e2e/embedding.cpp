#include <cgrt/cgrt.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

int main() {
  const cgrt::Program program = cgrt::Program::from_file("saxpy.cgb");
  cgrt::Instance instance(program, cgrt::Device::automatic(), {{"n", 1024}});
  const std::span<float> x = instance.host<float>("hx"); // pinned memory
  const std::span<float> y = instance.host<float>("hy");
  std::iota(x.begin(), x.end(), 0.0F);
  std::fill(y.begin(), y.end(), 1.0F);
  cgrt::Executable graph = instance.executable("main");
  graph.launch();
  graph.wait();
  std::printf("y[1023] = %g\n", y[1023]);
}
