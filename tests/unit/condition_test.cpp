// Conditions in programs: what they mean, that bundles hold them, and what the verifier refuses.
#include "format/bundle.h"
#include "format/program.h"
#include "graph_builder.h"
#include "recording_graph.h"
#include "text_compilation.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace cgrt::format {
namespace {

using cgc::testing::TextCompilation;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char *source = R"(
param n: i32 = 3;
device x, y: i32[4];
def plain(x: inout i32[4]) { fill x <- 0; }
@cancellable graph main {
  while (x[0] < n) max 7 {
    x[0] = x[0] + 1;
    if (y[0] > 0) { child plain(y); } else { fill y <- 1; }
  }
}
graph other { switch (y[1]) { case 1: { fill y <- 2; } default: { fill x <- 2; } } }
)";

cgc::Module sample() {
  const TextCompilation compilation(source);
  EXPECT_EQ(compilation.errors(), "");
  return compilation.module();
}

GraphId find(const Program &program, const std::string &name) {
  for (std::uint32_t index = 0; index < program.graphs.size(); ++index) {
    if (program.graphs[index].name == name) {
      return {index};
    }
  }
  ADD_FAILURE() << "there is no graph " << name;
  return {};
}

/// The conditional nodes of a graph.
std::vector<ConditionalWork *> conditionals(Program &program, const std::string &name) {
  std::vector<ConditionalWork *> found;
  for (Node &node : program.graphs[find(program, name).index].nodes) {
    if (auto *work = std::get_if<ConditionalWork>(&node.work)) {
      found.push_back(work);
    }
  }
  return found;
}

/// The first kernel of a graph that is given a condition.
KernelWork &setter(Program &program, const std::string &name, ConditionId *&condition) {
  for (Node &node : program.graphs[find(program, name).index].nodes) {
    if (auto *work = std::get_if<KernelWork>(&node.work)) {
      for (Argument &argument : work->arguments) {
        condition = std::get_if<ConditionId>(&argument);
        if (condition != nullptr) {
          return *work;
        }
      }
    }
  }
  throw std::logic_error("no kernel sets a condition");
}

TEST(Conditions, BelongToTheirEntryGraph) {
  const Program program = sample().program;
  EXPECT_THAT(conditions_of(program, find(program, "main")),
              ElementsAre(ConditionId{0}, ConditionId{1}));
  EXPECT_THAT(conditions_of(program, find(program, "other")), ElementsAre(ConditionId{2}));
}

TEST(Conditions, AConditionalDoesWhatItsBodiesDo) {
  Program program = sample().program;
  std::set<std::string> written;
  for (const Node &node : program[find(program, "main")].nodes) {
    if (node.kind() == NodeKind::Conditional) {
      EXPECT_EQ(describe(program, node), "while x[0] < n");
      for (const Effect &effect : effects_of(program, node)) {
        if (effect.writes) {
          written.insert(program[effect.region.buffer].name);
        }
      }
    }
  }
  EXPECT_THAT(written, ElementsAre("loops.reports", "main.iterations", "x", "y"));
}

TEST(Conditions, BundlesHoldThem) {
  const cgc::Module module = sample();
  const auto bytes = encode_bundle(module.program);
  cgc::Module read;
  read.program = decode_bundle(bytes, "test.cgb");
  EXPECT_EQ(print(read), print(module));
  EXPECT_THAT(print(read), HasSubstr("stop 0"));
  EXPECT_EQ(encode_bundle(read.program), bytes);
}

TEST(Conditions, BundlesSurviveEveryFlippedBit) {
  const auto bytes = encode_bundle(sample().program);
  const std::vector<std::byte> payload(bytes.begin() + bundle_header_bytes, bytes.end());
  for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    auto damaged = payload;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    try {
      const Program program = decode_payload(damaged, "test.cgb");
      for (std::uint32_t graph = 0; graph < program.graphs.size(); ++graph) {
        if (program.graphs[graph].entry) {
          static_cast<void>(conditions_of(program, {graph}));
        }
      }
    } catch (const Error &) {
      continue;
    }
  }
}

struct Breakage {
  const char *what; ///< part of the verifier's message
  std::function<void(Program &)> apply;
};

TEST(Conditions, TheVerifierFindsEachBrokenRule) {
  const Breakage breakages[] = {
      {"names no condition",
       [](Program &p) { conditionals(p, "main")[0]->condition = ConditionId{9}; }},
      {"decides another node",
       [](Program &p) { conditionals(p, "other")[0]->condition = ConditionId{0}; }},
      {"it is of an unknown type",
       [](Program &p) { conditionals(p, "main")[0]->type = static_cast<ConditionalType>(3); }},
      {"it has 0 bodies", [](Program &p) { conditionals(p, "main")[0]->bodies.clear(); }},
      {"it has 2 bodies",
       [](Program &p) { conditionals(p, "other")[0]->type = ConditionalType::While; }},
      {"a body is not a graph that stands before it",
       [](Program &p) { conditionals(p, "main")[0]->bodies[0] = find(p, "other"); }},
      {"a body is not a graph that stands before it",
       [](Program &p) { conditionals(p, "main")[0]->bodies[0] = GraphId{77}; }},
      {"a body is used elsewhere",
       [](Program &p) {
         auto &bodies = conditionals(p, "other")[0]->bodies;
         bodies[0] = bodies[1];
       }},
      {"its graph is the body of another node",
       [](Program &p) {
         Graph graph;
         graph.name = "more";
         graph.nodes.emplace_back().work.emplace<ChildWork>(
             ChildWork{conditionals(p, "main")[0]->bodies[0]});
         p.graphs.push_back(std::move(graph));
       }},
      {"decides no node",
       [](Program &p) { // a child with control flow
         const GraphId body = conditionals(p, "main")[0]->bodies[0];
         for (Node &node : p.graphs[find(p, "main").index].nodes) {
           if (node.kind() == NodeKind::Conditional) {
             node.work.emplace<ChildWork>(ChildWork{body});
           }
         }
       }},
      {"decides no node",
       [](Program &p) {
         p.conditions.push_back({});
         p.conditions[0].limit = {};
         p.reports = {};
       }},
      {"given a condition of another graph",
       [](Program &p) {
         ConditionId *condition = nullptr;
         setter(p, "other", condition);
         *condition = {0};
       }},
      {"given a condition of another graph",
       [](Program &p) {
         ConditionId *condition = nullptr;
         setter(p, "other", condition);
         *condition = {50};
       }},
      {"is a handle for another type than u64",
       [](Program &p) {
         ConditionId *condition = nullptr;
         const KernelWork &work = setter(p, "other", condition);
         const auto at = static_cast<std::size_t>(
             std::find(work.arguments.begin(), work.arguments.end(), Argument{*condition}) -
             work.arguments.begin());
         p.kernels[work.kernel.index].params[at].type = ScalarType::I32;
       }},
      {"its limit is no expression", [](Program &p) { p.conditions[0].limit = {100000}; }},
      {"they name no buffer", [](Program &p) { p.reports = {100}; }},
      {"is not private mapped u32 host memory of 3 elements",
       [](Program &p) { p.buffers[p.reports.index].shape[0] = p.exprs.constant(Value::of(true)); }},
      {"is not private mapped u32 host memory",
       [](Program &p) { p.buffers[p.stops.index].mapped = false; }},
      {"is not private mapped u32 host memory",
       [](Program &p) { p.graphs[find(p, "main").index].stop = 1; }},
      {"there is no buffer for them", [](Program &p) { p.stops = {}; }},
      {"it has a limit and no report", [](Program &p) { p.reports = {}; }},
      {"two of them are the same buffer", [](Program &p) { p.stops = p.reports; }},
      {"nothing in it sets the condition of its loop",
       [](Program &p) { // but that of the branch in it twice
         const GraphId body = conditionals(p, "main")[0]->bodies[0];
         for (Node &node : p.graphs[body.index].nodes) {
           if (auto *work = std::get_if<KernelWork>(&node.work)) {
             std::replace(work->arguments.begin(), work->arguments.end(), Argument{ConditionId{0}},
                          Argument{ConditionId{1}});
           }
         }
       }},
      {"only an entry graph is asked to stop",
       [](Program &p) { p.graphs[conditionals(p, "main")[0]->bodies[0].index].stop = 0; }},
  };
  for (const Breakage &breakage : breakages) {
    Program program = sample().program;
    ASSERT_THAT(verify(program), IsEmpty());
    breakage.apply(program);
    const auto problems = verify(program);
    ASSERT_FALSE(problems.empty()) << breakage.what;
    EXPECT_THAT(problems[0], HasSubstr(breakage.what));
  }
}

// Bodies are filled where the device has made them; handles are the graph's own.
TEST(Conditions, TheBuilderFillsBodies) {
  const Program program = sample().program;
  const Parameters parameters(program, {});
  std::vector<std::byte> memory(64);
  std::vector<PlacedBuffer> buffers;
  for (const Buffer &buffer : program.buffers) {
    buffers.push_back({memory.data(), {}});
    for (const ExprId extent : buffer.shape) {
      buffers.back().extents.push_back(
          static_cast<std::int64_t>(program.exprs.known(extent)->value.as_wide()));
    }
  }
  class Code : public LoadedCode {
  public:
    const Function &function(KernelId) const override { return function_; }
    bool holds(KernelId) const override { return true; }

  private:
    Function function_;
  };
  const Code code;
  const GraphBuilder builder(program, parameters, buffers, code, testing::no_bindings,
                             memory.data());
  const BuiltGraphs built = builder.build(
      find(program, "main"), [] { return std::make_unique<testing::RecordingGraph>(); });
  ASSERT_EQ(built.owned.size(), 2U); // the child and the graph
  const auto &main = static_cast<const testing::RecordingGraph &>(*built.owned.back());
  EXPECT_THAT(main.conditions, ElementsAre(0U, 0U));
  ASSERT_EQ(main.nodes.size(), 2U);
  const auto &loop = std::get<ConditionalParams>(main.nodes[1].params);
  EXPECT_EQ(loop.type, ConditionalType::While);
  EXPECT_EQ(loop.handle, 1001U);
  const auto &body = *main.bodies.at({1, 0});
  const auto branch = std::find_if(body.nodes.begin(), body.nodes.end(), [](const auto &node) {
    return std::holds_alternative<ConditionalParams>(node.params);
  });
  ASSERT_NE(branch, body.nodes.end());
  EXPECT_EQ(std::get<ConditionalParams>(branch->params).handle, 1002U);
  EXPECT_EQ(std::get<ConditionalParams>(branch->params).bodies, 2U);
  const auto index = static_cast<std::uint32_t>(branch - body.nodes.begin());
  const auto &then = *body.bodies.at({index, 0});
  ASSERT_EQ(then.nodes.size(), 1U);
  EXPECT_EQ(std::get<ChildParams>(then.nodes[0].params).graph, built.owned[0].get());
  EXPECT_TRUE(std::holds_alternative<FillParams>(body.bodies.at({index, 1})->nodes.at(0).params));
}

} // namespace
} // namespace cgrt::format
