// Device launch and device node update: what the format allows, and which kernels launch.
#include "format/bundle.h"
#include "format/program.h"
#include "kernels/launching_kernels.h"

#include "kernel_fixture.h"
#include "text_compilation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace {

using namespace cgrt::format;
using cgc::Diag;
using cgc::Diagnostics;
using cgc::testing::KernelFixture;
using cgc::testing::TextCompilation;
using cgrt::Error;
using cgrt::ScalarType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char *source = R"(
device inout x, y: i32[4];
kernel decide(next: tail graph, v: in i32[4]) grid(1) block(1) cuda { }
kernel add(by: i32, v: inout i32[4]) grid(1) block(4) cuda { }
callback told(n: i32);
graph main { tail step; decide(last, y); told(1); }
@device_launch graph step { arg(L, by) = y[1]; @updatable L: add(1, x); tail self; }
@device_launch graph last { }
graph branching { if (x[0] > 1) { add(1, x); } }
)";

cgc::Module sample() {
  const TextCompilation compilation(source);
  EXPECT_EQ(compilation.errors(), "");
  return compilation.module();
}

Graph &graph(Program &program, const std::string &name) {
  return *std::find_if(program.graphs.begin(), program.graphs.end(),
                       [&](const Graph &it) { return it.name == name; });
}

GraphId id_of(Program &program, const std::string &name) {
  return {static_cast<std::uint32_t>(&graph(program, name) - program.graphs.data())};
}

/// The kernel that is given the launch.
KernelWork &launching(Program &program, std::uint32_t launch) {
  for (Graph &each : program.graphs) {
    for (Node &node : each.nodes) {
      const auto launches = launches_of(node);
      if (std::find(launches.begin(), launches.end(), LaunchId{launch}) != launches.end()) {
        return std::get<KernelWork>(node.work);
      }
    }
  }
  throw std::logic_error("nobody does that launch");
}

TEST(DeviceLaunches, ABundleHoldsThem) {
  const cgc::Module module = sample();
  ASSERT_THAT(verify(module.program), IsEmpty());
  cgc::Module read;
  read.program = decode_bundle(encode_bundle(module.program), "test.cgb");
  EXPECT_EQ(print(read), print(module));
  Program &program = read.program;
  EXPECT_THAT(launches_of(program, id_of(program, "main")), ElementsAre(LaunchId{0}, LaunchId{1}));
  EXPECT_THAT(graphs_run_by(program, id_of(program, "main")),
              ElementsAre(id_of(program, "main"), id_of(program, "step"), id_of(program, "last")));
  EXPECT_THAT(graphs_run_by(program, id_of(program, "last")), ElementsAre(id_of(program, "last")));
}

TEST(DeviceLaunches, BundlesSurviveEveryFlippedBit) {
  const auto bundle = encode_bundle(sample().program);
  std::vector<std::byte> payload(bundle.begin() + bundle_header_bytes, bundle.end());
  for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    const auto mask = static_cast<std::byte>(1U << (bit % 8));
    payload[bit / 8] ^= mask;
    try {
      const Program program = decode_payload(payload, "test.cgb");
      for (std::uint32_t index = 0; index < program.graphs.size(); ++index) {
        if (program.graphs[index].entry) {
          static_cast<void>(graphs_run_by(program, {index}));
        }
      }
    } catch (const Error &) { // refused
    }
    payload[bit / 8] ^= mask;
  }
}

struct Breakage {
  const char *what; ///< part of the verifier's message
  std::function<void(Program &)> apply;
};

TEST(DeviceLaunches, TheVerifierFindsEachBrokenRule) {
  const Breakage breakages[] = {
      {"it is of an unknown kind",
       [](Program &p) { p.launches[0].kind = static_cast<LaunchKind>(3); }},
      {"its target is no graph for device launch", [](Program &p) { p.launches[0].target = {99}; }},
      {"its target is no graph for device launch",
       [](Program &p) { p.launches[0].target = id_of(p, "branching"); }},
      {"it launches itself while it runs",
       [](Program &p) { p.launches[2].kind = LaunchKind::Detach; }},
      {"its place names no file",
       [](Program &p) {
         p.launches[1].place = {{9}, 1, 1};
       }},
      {"another graph does the same launch",
       [](Program &p) { launching(p, 2).arguments = launching(p, 0).arguments; }},
      {"it names no launch", [](Program &p) { launching(p, 1).arguments[0] = LaunchId{77}; }},
      {"is a graph where none is asked for, or none",
       [](Program &p) { launching(p, 1).arguments[0] = ExprId{0}; }},
      {"is a graph of another type than u64",
       [](Program &p) {
         p.kernels[launching(p, 1).kernel.index].params[0].type = ScalarType::I32;
       }},
      {"cannot hold this kind of node", [](Program &p) { graph(p, "main").device_launch = true; }},
      {"has branches or loops", [](Program &p) { graph(p, "branching").device_launch = true; }},
      {"a graph for device launch has no node", [](Program &p) { graph(p, "last").nodes.clear(); }},
      {"only an entry graph is for device launch",
       [](Program &p) {
         const auto body = std::find_if(p.graphs.begin(), p.graphs.end(),
                                        [](const Graph &it) { return !it.entry; });
         body->device_launch = true;
       }},
      {"two of them are the same buffer", [](Program &p) { p.update_refusals = p.refusals; }},
      {"is not private mapped u32 host memory of 3 elements", [](Program &p) { p.refusals = {0}; }},
      {"names no node to be changed",
       [](Program &p) { graph(p, "step").nodes[1].updatable = {3}; }},
      {"two nodes are changed as one",
       [](Program &p) { graph(p, "step").nodes[2].updatable = {0}; }},
      {"a kernel changes a node that is not in it",
       [](Program &p) { graph(p, "step").nodes[1].updatable = {}; }},
      {"it happens in no entry graph", [](Program &p) { p.updates[0].graph = {50}; }},
      {"a function is given a condition, a graph or a node",
       [](Program &p) {
         for (Node &node : graph(p, "main").nodes) {
           if (auto *call = std::get_if<CallbackWork>(&node.work)) {
             p.callables[call->function.index].params[0].type = ScalarType::U64;
             call->arguments[0] = UpdatableId{0};
           }
         }
       }},
  };
  for (const Breakage &breakage : breakages) {
    Program program = sample().program;
    breakage.apply(program);
    const auto problems = verify(program);
    ASSERT_FALSE(problems.empty()) << breakage.what;
    EXPECT_THAT(problems[0], HasSubstr(breakage.what));
  }
}

/// By itself, by a function it calls, by two; another's calls are not its own.
TEST(LaunchingKernels, PtxTellsWhichEntriesLaunch) {
  constexpr std::string_view ptx = R"(
.version 9.0
.target sm_90
.extern .func (.param .b32 func_retval0) cudaGraphLaunch ( .param .b64 a, .param .b64 b ) ;
.func (.param .b32 r) last ( .param .b64 a ) { call.uni (r), cudaGraphLaunch, (a, a); ret; }
.func first ( .param .b64 a ) { { call.uni (r), last, (a); } ret; }
.func harmless ( .param .b64 a ) { ret; }
.visible .entry direct( .param .u64 p ) { .reg .b32 %r<2>; call.uni (r), cudaGraphLaunch, (p, p); }
.visible .entry through( .param .u64 p ) .maxntid 1024 { $L__BB0_1: call.uni first, (p); ret; }
.visible .entry quiet( .param .u64 p ) { call.uni harmless, (p); ret; }
)";
  EXPECT_THAT(cgc::launching_entries(ptx), ElementsAre("direct", "through"));
  EXPECT_THAT(cgc::launching_entries(".version 9.0\n.visible .entry k() { ret; }"), IsEmpty());
}

/// A kernel that launches without a graph among its parameters.
TEST(LaunchingKernels, OneThatDoesNotSaySoIsRefused) {
  std::string why_not;
  if (!cgc::cuda_compiler_available(&why_not)) {
    GTEST_SKIP() << why_not;
  }
  KernelFixture fixture(
      "kernel quiet cuda {\n  x[0] = 1;\n}\n"
      "kernel secret cuda {\n  start(reinterpret_cast<cudaGraphExec_t>(x));\n}\n"
      "kernel open cuda {\n  start(work);\n}\n"
      "void start(cudaGraphExec_t g) { cudaGraphLaunch(g, cudaStreamGraphTailLaunch); }");
  fixture.add_block(
      "void start(cudaGraphExec_t g) { cudaGraphLaunch(g, cudaStreamGraphTailLaunch); }");
  fixture.add("quiet", {cgc::testing::buffer("x", ScalarType::F32, Mode::Out)});
  fixture.add("secret", {cgc::testing::buffer("x", ScalarType::F32, Mode::InOut)});
  fixture.add("open", {{"work", ScalarType::U64, false, Mode::In, true}});
  Diagnostics diagnostics;
  cgc::compile_kernels(fixture.program, fixture.unit(), {true, false, {"sm_90"}}, diagnostics);
  ASSERT_EQ(diagnostics.all().size(), 1U) << fixture.printed(diagnostics);
  EXPECT_EQ(diagnostics.all()[0].id, Diag::LaunchesWithoutParameter);
  EXPECT_THAT(fixture.printed(diagnostics),
              HasSubstr("t.cgraph:4:8: error: kernel 'secret' calls cudaGraphLaunch"));
}

} // namespace
