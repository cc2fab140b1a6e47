// External kernels: what the embedding program binds to them. tests/gpu binds kernels.
#include "device_under_test.h"
#include "external_program.h"
#include "message_of.h"

#include <gmock/gmock.h>

#include <functional>
#include <stdexcept>

namespace conformance {

using cgrt::format::CopyWork;
using cgrt::format::KernelWork;
using testing::ElementsAre;
using testing::HasSubstr;

using Words = std::vector<std::uint32_t>;
using In = std::span<const std::uint32_t>;
using Out = std::span<std::uint32_t>;

class ExternalTest : public DeviceUnderTest {
protected:
  cgrt::Device place() const { return is_host() ? cgrt::Device::host() : cgrt::Device::cuda(0); }

  static HandMade with_scale(bool inplace = false) {
    return with_external("scale", ScalarType::I64, inplace);
  }
  static HandMade scaling() { return one_launch(with_scale(), 2); }

  static void scale(std::int64_t factor, In x, Out y) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = static_cast<std::uint32_t>(factor) * x[i];
    }
  }
};
CONFORMANCE_SUITE(ExternalTest);

/// Where a function over spans and scalars is all that can be bound.
class ExternalOnHostTest : public ExternalTest {};
INSTANTIATE_TEST_SUITE_P(Device, ExternalOnHostTest, testing::Values("host"));

TEST_P(ExternalTest, UnboundItIsNamedWithTheCallThatBindsIt) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2));
  const std::string call = is_host() ? "bind_host" : "bind_kernel";
  const std::string wanted =
      "kernel scale is not bound; the program that embeds cgrt does that with Instance::" + call +
      "(\"scale\", …)";
  EXPECT_THAT(message_of(cgrt::ErrorCode::Usage, [&] { (void)instance.executable(); }),
              HasSubstr(wanted));
  EXPECT_THAT(message_of(cgrt::ErrorCode::Usage, [&] { (void)instance.check_effects(); }),
              HasSubstr(wanted));
}

TEST_P(ExternalTest, TheProgramTellsItsNameAndParameters) {
  const std::vector<cgrt::KernelInfo> kernels = scaling().finish().external_kernels();
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].name, "scale");
  EXPECT_THAT(kernels[0].parameters, ElementsAre("factor", "x", "y"));
}

TEST_P(ExternalTest, WhatCannotBeBoundIsRefused) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2));
  const auto message = [](const std::function<void()> &action) {
    return message_of(cgrt::ErrorCode::Usage, action);
  };
  const int something = 0;
  EXPECT_THAT(message([&] { instance.bind_kernel("stale", &something); }),
              HasSubstr("there is no external kernel stale"));
  EXPECT_THAT(message([&] { instance.bind_kernel("scale", nullptr); }),
              HasSubstr("kernel scale: what is bound to it is null"));
  EXPECT_THAT(message([&] { instance.bind_host("stale", [] {}); }),
              HasSubstr("there is no captured function or external kernel stale"));
  EXPECT_THAT(message([&] { instance.bind_captured("scale", [](CUstream_st *) {}); }),
              HasSubstr("there is no captured function scale"));
  EXPECT_THAT(message([&] { instance.bind_host("scale", [] {}); }),
              HasSubstr("kernel scale has 3 parameters; the function bound to it has 0"));
  EXPECT_THAT(message([&] { instance.bind_host("scale", [](std::int64_t, Out, Out) {}); }),
              HasSubstr("kernel scale: parameter x of the function bound to it is a span of u32; "
                        "the declaration asks for a span of const u32"));
}

TEST_P(ExternalOnHostTest, TheFunctionIsCalledOnceForALaunch) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2, 100));
  int calls = 0;
  instance.bind_kernel("scale", &calls); // for CUDA devices
  instance.bind_host("scale", [&](std::int64_t factor, In x, Out y) {
    ++calls;
    scale(factor, x, y);
  });
  cgrt::Executable graph = instance.executable();
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(6, 8));
  instance.set(launch_params(5, 100));
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(15, 20));
  EXPECT_EQ(calls, 2);
  instance.set(launch_params(7, 0));
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(15, 20))
      << "an empty grid does nothing";
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(
      message_of(cgrt::ErrorCode::InvalidValue, [&] { instance.set(launch_params(5, -1)); }),
      HasSubstr("[geometry]"));
}

TEST_P(ExternalOnHostTest, BoundAgainTheNewOneIsCalled) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2));
  instance.bind_host("scale", scale);
  cgrt::Executable graph = instance.executable();
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(6, 8));
  instance.bind_host("scale", [](std::int64_t, In x, Out y) { y[0] = y[1] = x[0]; });
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(3, 3));
  EXPECT_THROW(instance.bind_host("scale", [] {}), cgrt::Error);
  EXPECT_THAT(run_once(instance, graph, {5, 4}), ElementsAre(5, 5))
      << "what is refused changes nothing";
}

TEST_P(ExternalOnHostTest, WhatItThrowsComesWithTheNextWait) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2));
  instance.bind_host("scale",
                     [](std::int64_t, In, Out) { throw std::runtime_error("no such factor"); });
  cgrt::Executable graph = instance.executable();
  graph.launch();
  EXPECT_THAT(message_of(cgrt::ErrorCode::Device, [&] { graph.wait(); }),
              HasSubstr("kernel scale: no such factor"));
}

TEST_P(ExternalOnHostTest, ItsEffectsAreCheckedLikeThoseOfOthers) {
  cgrt::Instance instance(scaling().finish(), place(), launch_params(2));
  instance.bind_host("scale", [](std::int64_t factor, In x, Out y) {
    y[0] = static_cast<std::uint32_t>(factor) * x[0];
    const_cast<std::uint32_t &>(x[1]) = 9;
  });
  write_words(instance, "in", {3, 4});
  const cgrt::EffectReport report = instance.check_effects();
  EXPECT_EQ(report.launches, 1U);
  Words kinds;
  for (const cgrt::EffectFault &fault : report.faults) {
    EXPECT_EQ(fault.kernel, "scale");
    kinds.push_back(static_cast<std::uint32_t>(fault.kind));
  }
  EXPECT_THAT(kinds, testing::UnorderedElementsAre(
                         static_cast<std::uint32_t>(cgrt::EffectFault::Kind::WroteIn),
                         static_cast<std::uint32_t>(cgrt::EffectFault::Kind::LeftOut)));
}

TEST_P(ExternalOnHostTest, OverlappingArgumentsAreRefusedUnlessItIsInplace) {
  for (const bool inplace : {false, true}) {
    HandMade made = with_scale(inplace);
    const auto in = made.buffer("in", {2});
    made.graph("main");
    made.node(made.launch(0, {made.number(2), made.whole(in), made.whole(in)}));
    cgrt::Instance instance(made.finish(), place());
    instance.bind_host("scale", scale);
    if (!inplace) {
      EXPECT_THAT(message_of(cgrt::ErrorCode::InvalidValue, [&] { (void)instance.executable(); }),
                  HasSubstr("[alias]"));
      continue;
    }
    cgrt::Executable graph = instance.executable();
    write_words(instance, "in", {3, 4});
    graph.launch();
    graph.wait();
    EXPECT_THAT(read_words(instance, "in"), ElementsAre(6, 8));
  }
}

TEST_P(ExternalOnHostTest, ItStandsInChildrenAndBodies) {
  cgrt::Instance instance(in_child_and_body(with_scale(), 2).finish(), place());
  instance.bind_host("scale", scale);
  cgrt::Executable graph = instance.executable();
  EXPECT_THAT(run_once(instance, graph, {3, 4}), ElementsAre(18, 24));
}

/// With a `host { }` body.
class ExternalHostBodyTest : public KernelsUnderTest {};
INSTANTIATE_TEST_SUITE_P(Device, ExternalHostBodyTest, testing::Values("host"));

TEST_P(ExternalHostBodyTest, ItRunsUnlessAFunctionIsBound) {
  KernelText text = {"add", {scalar("a", ScalarType::U32), output("x", ScalarType::U32)}, ""};
  text.host = "x[0] += a * gridDim.x;";
  cgrt::format::Program program = compile({text}, target());
  program.kernels[0].external = true;
  HandMade made(std::move(program));
  const auto x = made.buffer("x", {1});
  KernelWork work = made.launch(0, {made.number(10), made.whole(x)});
  work.grid[0] = made.number(3);
  made.graph("main");
  made.node(std::move(work));
  cgrt::Instance instance(made.finish(), cgrt::Device::host());
  cgrt::Executable graph = instance.executable();
  const auto run = [&] {
    write_words(instance, "x", {1});
    graph.launch();
    graph.wait();
    return read_words(instance, "x");
  };
  EXPECT_THAT(run(), ElementsAre(31));
  instance.bind_host("add", [](std::uint32_t a, Out values) { values[0] = a; });
  EXPECT_THAT(run(), ElementsAre(10));
}

} // namespace conformance
