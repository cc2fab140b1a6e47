// Programs with one external kernel, which the tests of both devices bind.
#pragma once

#include "conformance/hand_made.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// A program without code but for that of this kernel: y = factor op x, elements u32.
inline HandMade with_external(const std::string &name, cgrt::ScalarType factor,
                              bool inplace = false) {
  using cgrt::format::Mode;
  cgrt::format::Kernel kernel;
  kernel.name = kernel.symbol = name;
  kernel.params = {{"factor", factor, false, Mode::In},
                   {"x", cgrt::ScalarType::U32, true, Mode::In},
                   {"y", cgrt::ScalarType::U32, true, Mode::Out}};
  kernel.external = true;
  kernel.inplace = inplace;
  cgrt::format::Program program;
  program.kernels.push_back(std::move(kernel));
  return HandMade(std::move(program));
}

/// out = factor op in, in a grid of `blocks`; both are params.
inline HandMade one_launch(HandMade made, std::int64_t extent) {
  const auto in = made.buffer("in", {extent});
  const auto out = made.buffer("out", {extent});
  const auto factor = made.param("factor");
  const auto blocks = made.param("blocks");
  cgrt::format::KernelWork work = made.launch(0, {factor, made.whole(in), made.whole(out)});
  work.grid[0] = blocks;
  made.graph("main");
  made.node(std::move(work));
  return made;
}

inline std::map<std::string, cgrt::Scalar> launch_params(std::int64_t factor,
                                                         std::int64_t blocks = 1) {
  return {{"factor", factor}, {"blocks", blocks}};
}

/// out = 3 op (2 op in): in a child graph, and in the body of a branch that is taken.
inline HandMade in_child_and_body(HandMade made, std::int64_t extent) {
  const auto in = made.buffer("in", {extent});
  const auto middle = made.buffer("middle", {extent});
  const auto out = made.buffer("out", {extent});
  const auto condition = made.condition(1);
  const auto child = made.graph("child", false);
  made.node(made.launch(0, {made.number(2), made.whole(in), made.whole(middle)}));
  const auto body = made.graph("body", false);
  made.node(made.launch(0, {made.number(3), made.whole(middle), made.whole(out)}));
  made.graph("main");
  const auto first = made.node(cgrt::format::ChildWork{{child}});
  made.conditional(cgrt::format::ConditionalType::If, condition, {body}, {first});
  return made;
}

/// Launches once; what is in `out` then.
inline std::vector<std::uint32_t> run_once(cgrt::Instance &instance, cgrt::Executable &graph,
                                           const std::vector<std::uint32_t> &in) {
  write_words(instance, "in", in);
  graph.launch();
  graph.wait();
  return read_words(instance, "out");
}

} // namespace conformance
