// How long the runtime takes to load a bundle and to build a graph, by its number of nodes, on the
// host device: what is measured is cgrt itself. Both are to be linear (see the complexity lines).
#include <cgrt/cgrt.h>

#include "format/bundle.h"

#include <benchmark/benchmark.h>

#include <memory>

namespace {

using cgrt::format::BufferId;
using cgrt::format::Dependency;
using cgrt::format::ExprId;
using cgrt::format::FillWork;
using cgrt::format::NodeId;
using cgrt::format::Value;

/// Fills of one buffer, one after the other; each is of another part and depends on the one before.
std::shared_ptr<const cgrt::format::Program> chain(std::int64_t nodes) {
  auto program = std::make_shared<cgrt::format::Program>();
  program->files = {"chain.cgraph"};
  cgrt::format::ExprTable &exprs = program->exprs;
  const ExprId zero = exprs.constant(Value::of(std::int64_t{0}));
  const ExprId one = exprs.constant(Value::of(std::int64_t{1}));
  program->buffers.push_back({"x",
                              cgrt::ScalarType::I32,
                              cgrt::MemorySpace::Device,
                              cgrt::CallerAccess::Out,
                              {exprs.constant(Value::of(nodes))},
                              {}});
  cgrt::format::Graph graph;
  graph.name = "main";
  for (std::int64_t index = 0; index < nodes; ++index) {
    cgrt::format::Node node;
    node.work = FillWork{{BufferId{0}, {{exprs.constant(Value::of(index)), one}}}, zero};
    if (index > 0) {
      const NodeId before{static_cast<std::uint32_t>(index - 1)};
      node.dependencies.push_back(Dependency{before, BufferId{0}});
    }
    graph.nodes.push_back(std::move(node));
  }
  program->graphs.push_back(std::move(graph));
  return program;
}

void load_bundle(benchmark::State &state) {
  const std::vector<std::byte> bundle = cgrt::format::encode_bundle(*chain(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(cgrt::Program::from_bytes(bundle));
  }
  state.SetComplexityN(state.range(0));
}

void build_graph(benchmark::State &state) {
  const cgrt::Program program(chain(state.range(0)));
  cgrt::Instance instance(program, cgrt::Device::host());
  for (auto _ : state) {
    benchmark::DoNotOptimize(instance.executable());
  }
  state.SetComplexityN(state.range(0));
}

BENCHMARK(load_bundle)->RangeMultiplier(10)->Range(1'000, 100'000)->Complexity();
BENCHMARK(build_graph)->RangeMultiplier(10)->Range(1'000, 100'000)->Complexity();

} // namespace

BENCHMARK_MAIN();
