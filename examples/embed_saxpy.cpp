// saxpy.cgraph in a program: the bundle and its types come from the header that cgc has made.
#include "saxpy.cgraph.h"

#include <cstdio>
#include <numeric>

int main() {
  SaxpyMain g(cgrt::Device::automatic(), {.n = 1024});
  for (const float a : {2.0F, 0.5F}) {
    g.a(a); // updates one node of the graph
    std::iota(g.hx().begin(), g.hx().end(), 0.0F);
    std::ranges::fill(g.hy(), 1.0F);
    g.run();
    for (std::size_t i = 0; i < g.hy().size(); ++i) {
      if (g.hy()[i] != a * static_cast<float>(i) + 1) {
        std::printf("y[%zu] = %g\n", i, g.hy()[i]);
        return 1;
      }
    }
  }
  g.n(2048); // the buffers grow
  std::printf("%zu elements on %s\n", g.hx().size(), g.instance().device().name().c_str());
}
