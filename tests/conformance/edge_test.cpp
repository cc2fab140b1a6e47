// The edges of the examples are enough, and those that matter are missed: in 200 random orders each
// gives what its statements give one after the other; and where there is an order that makes a
// difference once an edge is missing, the race checker tells, and random orders find one.
#include <cgrt/cgrt.h>

#include "kernel_program.h"
#include "kernels/kernel_compiler.h"
#include "passes/races.h"
#include "unit/text_compilation.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <sstream>

namespace conformance {

namespace {

constexpr int orders = 200;

using Bytes = std::vector<std::byte>;
/// What a launch shows: buffers by their names, and the calls of callbacks.
using Outputs = std::map<std::string, Bytes>;

struct Example {
  std::string name;
  std::map<std::string, cgrt::Scalar> params = {};
  cgc::Defines defines = {};
  /// Replaced in the text: loops get an end, for without an edge they may have none.
  std::string from = {}, to = {};
  /// Fills an input, given how many elements it has; else elements are random.
  std::map<std::string, std::function<double(std::size_t index, std::mt19937 &)>> inputs = {};
};

// GoogleTest asks for that name. NOLINTNEXTLINE(readability-identifier-naming)
void PrintTo(const Example &example, std::ostream *out) {
  *out << example.name;
}

std::vector<Example> examples() {
  constexpr std::int32_t n = 20; // vertices and rows, in a circle
  const auto begins = [](int each) {
    return [each](std::size_t i, std::mt19937 &) { return static_cast<double>(i) * each; };
  };
  const auto neighbours = [](std::size_t i, std::mt19937 &) {
    return static_cast<double>((i / 3 + n + i % 3 - 1) % n);
  };
  const auto shuffled_target = [](std::size_t i, std::mt19937 &random) {
    return static_cast<double>(i % 2 == 0 ? (i / 2 + 1) % n : random() % n);
  };
  const auto laplacian = [](std::size_t i, std::mt19937 &) { return i % 3 == 1 ? 4.0 : -1.0; };
  // Blocks of 64 that are equal, close to each other or far apart.
  const auto blocks = [spread = 0U](std::size_t i, std::mt19937 &random) mutable {
    constexpr std::array<unsigned, 3> spreads = {1, 100, 1'000'000};
    spread = i % 64 == 0 ? spreads[random() % 3] : spread;
    return static_cast<double>(random() % spread);
  };
  using Defines = cgc::Defines;
  const auto number = [](std::int64_t value) { return cgrt::format::Value::of(value); };
  std::vector<Example> all;
  all.push_back({"abc", {{"n", 300}}});
  all.push_back({"bfs",
                 {{"n", n}, {"edges", 2 * n}},
                 {},
                 "while (found[0] != 0)",
                 "while (found[0] != 0) max 40",
                 {{"hbegin", begins(2)}, {"htarget", shuffled_target}}});
  all.push_back({"callback_progress", {{"n", 300}}});
  all.push_back({"cg", {{"n", n}, {"nonzeros", 3 * n}, {"limit", 40}}});
  all.back().inputs = {{"hbegin", begins(3)}, {"hcolumn", neighbours}, {"hvalue", laplacian}};
  all.push_back({"compress_switch", {{"n", 64}}});
  all.back().inputs = {{"hx", blocks}};
  all.push_back({"decode_loop", {{"vocabulary", 16}, {"width", 8}, {"limit", 10}}});
  all.push_back({"gemm_batch", {{"m", 9}, {"n", 7}, {"k", 5}}, Defines{{"BATCH", number(4)}}});
  all.push_back({"jacobi", {{"h", 9}, {"w", 7}, {"limit", 5}}});
  all.push_back({"newton_sqrt", {{"n", 300}}});
  all.back().from = "while (moved[0] != 0)";
  all.back().to = "while (moved[0] != 0) max 40";
  all.push_back({"overlap", {{"n", 300}}});
  all.push_back({"pipeline_chunks", {{"chunk", 300}}});
  all.push_back({"priorities", {{"n", 300}}});
  all.push_back({"saxpy", {{"n", 300}}});
  all.push_back({"sobel", {{"h", 20}, {"w", 19}}});
  all.push_back({"streams_pool",
                 {{"m", 9}, {"n", 7}, {"k", 5}},
                 Defines{{"BATCH", number(7)}, {"STREAMS", number(3)}}});
  all.push_back({"update_sweep", {{"batch", 5}}});
  return all;
}

class EdgeTest : public testing::TestWithParam<Example> {
protected:
  void SetUp() override {
    if (const std::string why = why_no_compiler("host"); !why.empty()) {
      GTEST_SKIP() << why;
    }
    const std::string path = CGRAPH_EXAMPLES "/" + GetParam().name + ".cgraph";
    std::ifstream file(path);
    if (!file) {
      GTEST_SKIP() << "there is no " << path;
    }
    std::stringstream text;
    text << file.rdbuf();
    std::string program = text.str();
    if (!GetParam().from.empty()) {
      const std::size_t at = program.find(GetParam().from);
      ASSERT_NE(at, std::string::npos);
      program.replace(at, GetParam().from.size(), GetParam().to);
    }
    compilation_.emplace(program, GetParam().defines, path);
    ASSERT_EQ(compilation_->errors(), "");
    cgc::Diagnostics diagnostics;
    cgc::Module &module = compilation_->module();
    cgc::KernelCompileOptions options;
    options.host = true;
    cgc::compile_kernels(module.program,
                         {compilation_->files(), module.scopes, module.kernel_sources}, options,
                         diagnostics);
    ASSERT_FALSE(diagnostics.has_errors());
  }

  cgrt::format::Program &program() { return compilation_->module().program; }

  bool has_race() {
    cgc::Diagnostics diagnostics;
    cgc::check_races(compilation_->module(), true, compilation_->files(), diagnostics);
    return diagnostics.has_errors();
  }

private:
  std::optional<cgc::testing::TextCompilation> compilation_;
};

/// A program with two sets of inputs, so that what the last launch has left is never right.
class Runner {
public:
  Runner(const cgrt::format::Program &program, const Example &example, std::uint64_t seed = 1)
      : example_(example), program_(std::make_shared<const cgrt::format::Program>(program)),
        instance_(program_, cgrt::Device::host({seed, 1}), example.params) {
    for (const cgrt::FunctionInfo &function : program_.functions()) {
      instance_.bind_any_callback(function.name, [this](cgrt::CallArguments arguments) {
        for (const cgrt::CallArgument &argument : arguments) {
          if (const auto *buffer = std::get_if<cgrt::CallBuffer>(&argument)) {
            calls_.insert(calls_.end(), buffer->data,
                          buffer->data + buffer->elements() * cgrt::size_of(buffer->type));
          }
        }
      });
    }
  }

  /// Statement after statement.
  Outputs in_program_order(unsigned inputs) {
    fill(inputs);
    static_cast<void>(instance_.check_effects());
    calls_.clear(); // each statement is run once, and kernels some times more
    return outputs();
  }

  /// The next random order. Nothing where a kernel faults.
  std::optional<Outputs> run(unsigned inputs) {
    if (!executable_) {
      executable_.emplace(instance_.executable());
    }
    fill(inputs);
    calls_.clear();
    try {
      executable_->launch();
      executable_->wait();
    } catch (const cgrt::Error &error) {
      if (error.code() != cgrt::ErrorCode::Stopped) {
        return std::nullopt;
      }
    }
    return outputs();
  }

private:
  void fill(unsigned inputs) {
    std::mt19937 random(inputs);
    for (const cgrt::BufferInfo &buffer : program_.buffers()) {
      if (buffer.access != cgrt::CallerAccess::In && buffer.access != cgrt::CallerAccess::InOut) {
        continue;
      }
      const auto values = example_.inputs.find(buffer.name);
      const std::size_t size = cgrt::size_of(buffer.type);
      Bytes bytes(instance_.buffer(buffer.name).bytes);
      for (std::size_t i = 0; i < bytes.size() / size; ++i) {
        const double value = values != example_.inputs.end() ? values->second(i, random)
                                                             : static_cast<double>(random() % 8);
        store(buffer.type, value, bytes.data() + i * size);
      }
      instance_.write(buffer.name, bytes);
    }
  }

  static void store(cgrt::ScalarType type, double value, std::byte *to) {
    const auto put = [to](auto number) { std::memcpy(to, &number, sizeof(number)); };
    switch (type) {
    case cgrt::ScalarType::F32:
      return put(static_cast<float>(value));
    case cgrt::ScalarType::F64:
      return put(value);
    case cgrt::ScalarType::I32:
      return put(static_cast<std::int32_t>(value));
    case cgrt::ScalarType::I8:
    case cgrt::ScalarType::U8:
      return put(static_cast<std::int8_t>(value));
    default:
      throw std::runtime_error("an input of a type that no example has had");
    }
  }

  Outputs outputs() {
    Outputs result;
    for (const cgrt::BufferInfo &buffer : program_.buffers()) {
      if (buffer.access == cgrt::CallerAccess::Out || buffer.access == cgrt::CallerAccess::InOut) {
        result[buffer.name] = instance_.read(buffer.name);
      }
    }
    if (!calls_.empty()) {
      result["calls"] = calls_;
    }
    return result;
  }

  const Example &example_;
  cgrt::Program program_;
  cgrt::Instance instance_;
  std::optional<cgrt::Executable> executable_;
  Bytes calls_;
};

/// For each set of inputs.
std::array<Outputs, 2> expected(const cgrt::format::Program &program, const Example &example) {
  Runner runner(program, example);
  std::array<Outputs, 2> results;
  for (unsigned inputs = 0; inputs < results.size(); ++inputs) {
    results[inputs] = runner.in_program_order(inputs);
    // Callbacks are checked against the sound graph's, whose order a test of their own looks at.
    if (const auto sound = runner.run(inputs); sound && sound->contains("calls")) {
      results[inputs]["calls"] = sound->at("calls");
    }
  }
  return results;
}

/// Whether one of the orders gives another result.
bool goes_wrong(const cgrt::format::Program &program, const Example &example,
                const std::array<Outputs, 2> &right) {
  constexpr unsigned in_one_memory = 20; // what stays from launch to launch may hide a fault
  for (unsigned seed = 0; seed < orders / in_one_memory; ++seed) {
    Runner runner(program, example, seed);
    for (unsigned order = 0; order < in_one_memory; ++order) {
      if (runner.run(order % 2) != right[order % 2]) {
        return true;
      }
    }
  }
  return false;
}

/// For each node, whether a path leads from it to `to`, which counts.
std::vector<bool> ancestors(const cgrt::format::Graph &graph, std::size_t to) {
  std::vector<bool> found(graph.nodes.size());
  found[to] = true;
  for (std::size_t i = to + 1; i-- > 0;) {
    for (const auto &dependency : graph.nodes[i].dependencies) {
      found[dependency.node.index] = found[dependency.node.index] || found[i];
    }
  }
  return found;
}

/// A node with all that it waits for comes before everything else, one after the other. Gives
/// another result, then, if it matters that the node waits for some other.
bool matters(cgrt::format::Program program, std::size_t graph, std::size_t node,
             const Example &example, const std::array<Outputs, 2> &right) {
  std::vector<cgrt::format::Node> &nodes = program.graphs[graph].nodes;
  const std::vector<bool> first = ancestors(program.graphs[graph], node);
  std::vector<cgrt::format::Node> row;
  for (const bool turn : {true, false}) {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (first[i] == turn) {
        row.push_back(nodes[i]);
        row.back().dependencies.clear();
        if (row.size() > 1) {
          row.back().dependencies.push_back({{static_cast<std::uint32_t>(row.size() - 2)}, {}});
        }
      }
    }
  }
  nodes = std::move(row);
  Runner runner(program, example);
  for (unsigned launch = 0; launch < 4; ++launch) {
    if (runner.run(launch % 2) != right[launch % 2]) {
      return true;
    }
  }
  return false;
}

} // namespace

TEST_P(EdgeTest, EveryOrderIsRight) {
  EXPECT_FALSE(has_race());
  const auto right = expected(program(), GetParam());
  EXPECT_NE(right[0], right[1]) << "the inputs do not matter";
  EXPECT_FALSE(goes_wrong(program(), GetParam(), right));
}

TEST_P(EdgeTest, AMissingEdgeShows) {
  const auto right = expected(program(), GetParam());
  int missing = 0;
  int matter = 0;
  int shown = 0;
  std::string missed;
  for (std::size_t g = 0; g < program().graphs.size(); ++g) {
    cgrt::format::Graph &graph = program().graphs[g];
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      auto &edges = graph.nodes[i].dependencies;
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const auto removed = edges[e];
        edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(e));
        const std::string edge = graph.name + ": " + std::to_string(removed.node.index) + " -> " +
                                 std::to_string(i) + "\n";
        ++missing;
        if (matters(program(), g, i, GetParam(), right)) {
          EXPECT_TRUE(has_race()) << "the checker passes a graph without " << edge;
          ++matter;
          const bool shows = goes_wrong(program(), GetParam(), right);
          shown += shows ? 1 : 0;
          missed += shows ? "" : edge;
        }
        edges.insert(edges.begin() + static_cast<std::ptrdiff_t>(e), removed);
      }
    }
  }
  EXPECT_GT(missing, 0);
  EXPECT_GE(shown, 0.95 * matter) << "no wrong result without\n" << missed;
  std::printf("without one of %d edges: %d can give a wrong result, %d do in %d orders\n", missing,
              matter, shown, orders);
}

INSTANTIATE_TEST_SUITE_P(Examples, EdgeTest, testing::ValuesIn(examples()),
                         [](const auto &example) { return example.param.name; });

} // namespace conformance
