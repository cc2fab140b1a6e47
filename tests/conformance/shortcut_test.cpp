// Changes that are made again and again, of which the runtime remembers the places: the tenth does
// what the first does, whatever comes between.
#include "hand_made.h"
#include "instance_state.h"
#include "message_of.h"
#include "text_program.h"
#include "update.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <random>

namespace conformance {

using cgrt::ErrorCode;
using cgrt::UpdateKind;
using testing::HasSubstr;

class ShortcutTest : public ProgramsUnderTest {
protected:
  /// x = a, y = a + b, as i32.
  static constexpr const char *sums = R"(
    param a: i32 = 1; param b: i32 = 2; param grid: i32 = 1;
    device inout x, y: i32[4];
    kernel put(v: i32, to: inout i32[4]) grid(1) block(4) cuda { to[threadIdx.x] = v; }
    kernel add(v: i32, to: inout i32[4]) grid(1) block(4)
    cuda { if (blockIdx.x == 0) to[threadIdx.x] += v; }
    graph main { put(a, x); put(a, y); add<<<grid, 4>>>(b, y); }
    graph only_x { put(a, x); })";

  /// As Instance::set() does where there is no shortcut.
  static void set_by_transaction(cgrt::InstanceState &state, const std::string &param,
                                 const cgrt::Scalar &value) {
    cgrt::Transaction &transaction = state.transaction();
    transaction.assign(param, value);
    const cgrt::UpdateReport report = transaction.commit();
    state.shortcuts.note(state, param, report);
  }

  static std::int32_t first(cgrt::Instance &instance, const char *buffer) {
    return static_cast<std::int32_t>(read_words(instance, buffer).at(0));
  }
};
CONFORMANCE_SUITE(ShortcutTest);

TEST_P(ShortcutTest, ValuesOfEveryTypeArriveEachTime) {
  const cgrt::Program program = compile_text(R"(
    param b: bool; param i8v: i8; param u8v: u8; param i16v: i16; param u16v: u16; param i32v: i32;
    param u32v: u32; param i64v: i64; param u64v: u64; param f32v: f32; param f64v: f64;
    param h: f16; param bh: bf16;
    device out i: i64[9]; device out f: f64[4];
    kernel integers(b: bool, i8v: i8, u8v: u8, i16v: i16, u16v: u16, i32v: i32, u32v: u32,
                    i64v: i64, u64v: u64, i: out i64[9]) grid(1) block(1)
    cuda { i[0] = b; i[1] = i8v; i[2] = u8v; i[3] = i16v; i[4] = u16v; i[5] = i32v; i[6] = u32v;
           i[7] = i64v; i[8] = static_cast<long long>(u64v); }
    kernel floats(f32v: f32, f64v: f64, h: f16, bh: bf16, f: out f64[4]) grid(1) block(1)
    cuda { f[0] = f32v; f[1] = f64v; f[2] = static_cast<float>(h); f[3] = static_cast<float>(bh); }
    graph main { integers(b, i8v, u8v, i16v, u16v, i32v, u32v, i64v, u64v, i);
                 floats(f32v, f64v, h, bh, f); })");
  const std::vector<std::string> integers = {"b",    "i8v",  "u8v",  "i16v", "u16v",
                                             "i32v", "u32v", "i64v", "u64v"};
  const std::vector<std::string> floats = {"f32v", "f64v", "h", "bh"};
  std::map<std::string, cgrt::Scalar> start;
  for (const std::string &name : integers) {
    start[name] = std::int64_t{0};
  }
  for (const std::string &name : floats) {
    start[name] = 0.0;
  }
  cgrt::Instance instance(program, place(), start);
  cgrt::Executable graph = instance.executable();
  std::vector<std::int64_t> wanted(integers.size(), 0);
  for (std::size_t which = 0; which < integers.size(); ++which) {
    const bool is_unsigned = integers[which][0] == 'u';
    for (std::int64_t round = 0; round < 6; ++round) {
      wanted[which] = which == 0 ? round % 2 : is_unsigned ? 100 + round : -100 - round;
      instance.set(integers[which], wanted[which]);
      run(graph);
      std::vector<std::int64_t> results(wanted.size());
      const auto bytes = instance.read("i");
      std::memcpy(results.data(), bytes.data(), bytes.size());
      EXPECT_EQ(results, wanted) << integers[which] << ", round " << round;
    }
  }
  // Eighths up to 8 are exact in every floating type; a third is rounded to the type's own bits.
  const std::vector<int> digits = {24, 53, 11, 8};
  std::vector<double> wanted_floats(floats.size(), 0);
  for (std::size_t which = 0; which < floats.size(); ++which) {
    for (int round = 0; round < 6; ++round) {
      const double value = round % 2 == 0 ? -1.0 / 3 : round / 8.0;
      const double unit = round % 2 == 0 ? std::ldexp(1.0, -1 - digits[which]) : 1.0 / 8;
      wanted_floats[which] = std::nearbyint(value / unit) * unit;
      instance.set(floats[which], value);
      run(graph);
      std::vector<double> results(floats.size());
      const auto bytes = instance.read("f");
      std::memcpy(results.data(), bytes.data(), bytes.size());
      EXPECT_EQ(results, wanted_floats) << floats[which] << ", round " << round;
    }
  }
}

TEST_P(ShortcutTest, EachReportSaysTheSame) {
  cgrt::Instance instance(compile_text(sums), place());
  cgrt::Executable graph = instance.executable();
  std::optional<cgrt::Executable> only_x = instance.executable("only_x");
  for (int value = 10; value < 16; ++value) {
    const cgrt::UpdateReport report = instance.set("a", value);
    EXPECT_EQ(report.kind, UpdateKind::InPlace);
    EXPECT_EQ(report.nodes, 3U) << value;
    EXPECT_EQ(report.rebuilt, 0U);
    EXPECT_EQ(std::get<std::int64_t>(instance.param("a")), value);
    const cgrt::UpdateReport again = instance.set("a", value);
    EXPECT_EQ(again.kind, UpdateKind::None);
    EXPECT_EQ(again.nodes, 0U);
  }
  only_x.reset();
  EXPECT_EQ(instance.set("a", 20).nodes, 2U);
  EXPECT_EQ(instance.set("a", 21).nodes, 2U);
  cgrt::Executable another = instance.executable("only_x");
  run(another);
  EXPECT_EQ(first(instance, "x"), 21);
  for (int value = 30; value < 34; ++value) {
    EXPECT_EQ(instance.set("a", value).nodes, 3U);
    run(another);
    EXPECT_EQ(first(instance, "x"), value);
    run(graph);
    EXPECT_EQ(first(instance, "y"), value + 2);
  }
}

TEST_P(ShortcutTest, WrongValuesAreRefusedEachTime) {
  cgrt::Instance instance(compile_text(sums), place());
  cgrt::Executable graph = instance.executable();
  for (int value = 10; value < 16; ++value) {
    instance.set("a", value);
    EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.set("a", std::int64_t{1} << 31); }),
                HasSubstr("param a: i32 cannot be 2147483648"));
    EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.set("a", 1.5); }),
                HasSubstr("param a: i32 takes an integer, not 1.5"));
    EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.set("aa", 1); }),
                HasSubstr("there is no param aa"));
    EXPECT_EQ(std::get<std::int64_t>(instance.param("a")), value);
    run(graph);
    EXPECT_EQ(first(instance, "x"), value);
  }
}

/// Of these params more depends than arguments.
TEST_P(ShortcutTest, WhatElseDependsOnAParamFollowsEachTime) {
  const cgrt::Program program = compile_text(R"(
    param most: i32 = 3; param at: i32 = 0; param n: i32 = 4; param v: i32 = 1; param cell: i32 = 0;
    device inout i, seen: i32[1]; device inout x: i32[8]; device out s: i32[n];
    device inout cells: i32[8];
    kernel put(v: i32, to: inout i32[1]) grid(1) block(1) cuda { to[0] = v; }
    kernel all(n: i32, v: i32, to: out i32[n]) grid(1) block(n) cuda { to[threadIdx.x] = v; }
    graph main {
      i[0] = 0; cells[cell] = cells[cell] + 1; put(most, seen); put(v, x[at]);
      while (i[0] < 100) max most { i[0] = i[0] + 1; }
      all(n, v + 1, s);
    })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", std::vector<std::uint32_t>(8, 0));
  cgrt::Executable graph = instance.executable();
  const auto run_stopped = [&] {
    graph.launch();
    return message_of(ErrorCode::Stopped, [&] { graph.wait(); });
  };
  for (int most = 5; most < 11; ++most) {
    instance.set("most", most);
    EXPECT_THAT(run_stopped(), HasSubstr("after " + std::to_string(most) + " iterations"));
    EXPECT_EQ(first(instance, "i"), most);
    EXPECT_EQ(first(instance, "seen"), most);
  }
  for (std::uint32_t v = 40; v < 46; ++v) {
    instance.set("v", std::int64_t{v});
    static_cast<void>(run_stopped());
    EXPECT_EQ(read_words(instance, "x")[0], v);
    EXPECT_EQ(read_words(instance, "s")[0], v + 1);
  }
  for (int at = 1; at < 8; ++at) {
    instance.set("at", at);
    static_cast<void>(run_stopped());
    EXPECT_EQ(read_words(instance, "x")[static_cast<std::size_t>(at)], 45U);
    EXPECT_THAT(message_of(ErrorCode::InvalidValue, [&] { instance.set("at", 8); }),
                HasSubstr("8"));
  }
  for (int cell = 1; cell < 8; ++cell) {
    write_words(instance, "cells", std::vector<std::uint32_t>(8, 0));
    instance.set("cell", cell);
    static_cast<void>(run_stopped());
    std::vector<std::uint32_t> cells(8, 0);
    cells[static_cast<std::size_t>(cell)] = 1;
    EXPECT_EQ(read_words(instance, "cells"), cells);
    EXPECT_THAT(message_of(ErrorCode::InvalidValue, [&] { instance.set("cell", 8); }),
                HasSubstr("8"));
  }
  for (std::uint32_t n = 5; n < 11; ++n) {
    instance.set("n", std::int64_t{n});
    static_cast<void>(run_stopped());
    EXPECT_EQ(read_words(instance, "s"), std::vector<std::uint32_t>(n, 46));
  }
}

TEST_P(ShortcutTest, ChecksAreMadeEachTime) {
  HandMade made(conformance::compile(
      {{"put", {scalar("v", ScalarType::I64), output("to", ScalarType::U32)}, "to[0] = v;"}},
      target()));
  const auto x = made.buffer("x", {1});
  const auto v = made.param("v");
  made.check(v, made.number(100), "{left} is more than {right}");
  made.graph("main");
  made.node(made.launch(0, {v, made.whole(x)}));
  cgrt::Instance instance(made.finish(), place(), {{"v", 1}});
  cgrt::Executable graph = instance.executable();
  for (int value = 95; value <= 100; ++value) {
    instance.set("v", value);
    EXPECT_THAT(message_of(ErrorCode::InvalidValue, [&] { instance.set("v", 101); }),
                HasSubstr("101 is more than 100"));
    run(graph);
    EXPECT_EQ(first(instance, "x"), value);
  }
}

TEST_P(ShortcutTest, LaunchedGraphsFollowEachTime) {
  const cgrt::Program program = compile_text(R"(
    param v: i32 = 1;
    device inout x: i32[1];
    kernel put(v: i32, to: inout i32[1]) grid(1) block(1) cuda { to[0] = v; }
    @device_launch graph work { put(v, x); }
    graph main { tail work; })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  for (int v = 2; v < 8; ++v) {
    instance.set("v", v);
    run(graph);
    EXPECT_EQ(first(instance, "x"), v);
  }
}

TEST_P(ShortcutTest, MemoryIsFollowedEachTime) {
  const cgrt::Program program = compile_text(R"(
    device inout x: i32[4]; device inout y: i32[8];
    kernel count(a: inout i32[2], b: inout i32[4]) grid(1) block(1) cuda { a[1] += 1; b[0] += 10; }
    graph main { count(x[2:4], y[4:8]); count(y[0:2], y[4:8]); })");
  cgrt::Instance instance(program, place());
  write_words(instance, "x", std::vector<std::uint32_t>(4, 0));
  write_words(instance, "y", std::vector<std::uint32_t>(8, 0));
  cgrt::Executable graph = instance.executable();
  const Array<std::int32_t> memory(device(), std::vector<std::int32_t>(80, 0));
  std::vector<std::int32_t> expected(80, 0);
  for (std::size_t round = 0; round < 10; ++round) {
    const std::size_t at = round * 7 % 9;
    const auto y = span_of(memory, 80).subspan(8 * at, 8);
    EXPECT_EQ(instance.bind("y", y).nodes, round == 0 || at != (round - 1) * 7 % 9 ? 2U : 0U);
    run(graph);
    expected[8 * at + 1] += 1;
    expected[8 * at + 4] += 20;
    EXPECT_EQ(memory.read(), expected);
    EXPECT_EQ(read_words(instance, "x")[3], round + 1);
    EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("x", y.first(4)); }),
                HasSubstr("[alias]"));
    EXPECT_THAT(message_of(ErrorCode::Usage, [&] { instance.bind("y", y.first(7)); }),
                HasSubstr("28 bytes"));
    if (round % 4 == 3) {
      instance.unbind("y");
      EXPECT_THAT(message_of(ErrorCode::Usage, [&] { graph.launch(); }), HasSubstr("buffer y"));
    }
  }
}

/// Single changes, mostly several of one kind in a row, among them some that make executables anew
/// or change a kernel's geometry.
TEST_P(ShortcutTest, ChangesMixAsAModelSays) {
  cgrt::Instance instance(compile_text(sums), place());
  write_words(instance, "x", {0, 0, 0, 0});
  write_words(instance, "y", {0, 0, 0, 0});
  std::optional<cgrt::Executable> graph = instance.executable();
  std::optional<cgrt::Executable> only_x = instance.executable("only_x");
  const Array<std::int32_t> memory(device(), std::vector<std::int32_t>(40, 0));
  std::map<std::string, int> params = {{"a", 1}, {"b", 2}, {"grid", 1}};
  std::mt19937 random(11);
  for (int step = 0; step < 300; ++step) {
    const std::string change = std::vector<std::string>{
        "a", "a", "b", "b", "grid", "x", "x", "executable", "both"}[random() % 9];
    for (auto times = 1 + random() % 5; times > 0; --times) {
      const int value = static_cast<int>(random() % 1000);
      if (change == "x") {
        instance.bind("x", span_of(memory, 40).subspan(random() % 10 * 4, 4));
      } else if (change == "executable") {
        graph.reset();
        graph = instance.executable();
      } else if (change == "both") {
        instance.set({{"a", value}, {"b", 2 * value}});
        params["a"] = value;
        params["b"] = 2 * value;
      } else {
        params[change] = change == "grid" ? value % 3 : value;
        instance.set(change, params[change]);
      }
    }
    run(*only_x);
    ASSERT_EQ(first(instance, "x"), params["a"]) << "step " << step << ", " << change;
    run(*graph);
    ASSERT_EQ(first(instance, "x"), params["a"]) << "step " << step << ", " << change;
    ASSERT_EQ(first(instance, "y"), params["a"] + (params["grid"] > 0 ? params["b"] : 0))
        << "step " << step << ", " << change;
  }
}

namespace {

/// Whose device takes no changes of prepared kernels while `refuses`, after it has made them.
class Refusing : public cgrt::DeviceExecutable {
public:
  Refusing(std::unique_ptr<DeviceExecutable> inner, const bool &refuses)
      : inner_(std::move(inner)), refuses_(refuses) {}

  void launch(cgrt::DeviceQueue *queue) override { inner_->launch(queue); }
  std::uint32_t place(const DeviceGraph &entry, const DeviceGraph &graph,
                      std::uint32_t node) override {
    return inner_->place(entry, graph, node);
  }
  std::size_t update(std::span<const Update> updates) override { return inner_->update(updates); }
  std::unique_ptr<cgrt::PreparedKernels> prepare(std::span<const Update> kernels) override {
    return std::make_unique<Kernels>(inner_->prepare(kernels), refuses_);
  }
  std::uint64_t device_handle(cgrt::format::LaunchKind kind) const override {
    return inner_->device_handle(kind);
  }
  void report() override { inner_->report(); }
  void wait() override { inner_->wait(); }

private:
  class Kernels : public cgrt::PreparedKernels {
  public:
    Kernels(std::unique_ptr<cgrt::PreparedKernels> inner, const bool &refuses)
        : inner_(std::move(inner)), refuses_(refuses) {}
    bool apply() noexcept override { return inner_->apply() && !refuses_; }

  private:
    std::unique_ptr<cgrt::PreparedKernels> inner_;
    const bool &refuses_;
  };

  std::unique_ptr<DeviceExecutable> inner_;
  const bool &refuses_;
};

/// On which nothing can be prepared.
class OutOfMemory : public Refusing {
public:
  using Refusing::Refusing;
  std::unique_ptr<cgrt::PreparedKernels> prepare(std::span<const Update> /*kernels*/) override {
    throw std::bad_alloc();
  }
};

} // namespace

/// The change has been made by then.
TEST_P(ShortcutTest, WithoutMemoryForItAChangeIsMadeAllTheSame) {
  const auto state = std::make_shared<cgrt::InstanceState>(compile_text(sums), place(),
                                                           std::map<std::string, cgrt::Scalar>());
  const auto executable = std::make_shared<cgrt::ExecutableState>();
  executable->graph = state->find_graph("main");
  state->make(executable);
  const bool refuses = false;
  executable->executable =
      std::make_unique<OutOfMemory>(std::move(executable->executable), refuses);
  const Array<std::int32_t> memory(device(), std::vector<std::int32_t>(40, 0));
  for (int value = 10; value < 16; ++value) {
    set_by_transaction(*state, "a", value);
    EXPECT_FALSE(state->shortcuts.set(*state, "a", value + 1));
    cgrt::Transaction &transaction = state->transaction();
    transaction.bind("x", span_of(memory, 40).subspan(value % 10 * 4UL, 4));
    const cgrt::UpdateReport report = transaction.commit();
    state->shortcuts.note(*state, {static_cast<std::uint32_t>(state->find("x"))}, report);
    executable->executable->launch(&state->order.next(nullptr, {}));
    state->order.wait();
    EXPECT_EQ(memory.read().at(value % 10 * 4UL), value);
  }
}

/// Numbers of every type, also those that a def hands on; but a value that was there already, or
/// was refused, is no change.
TEST_P(ShortcutTest, TheThirdChangeInPlaceTakesOne) {
  std::string params;
  std::string body;
  const std::vector<std::string> types = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
                                          "i64",  "u64", "f16", "bf16", "f32", "f64"};
  for (const std::string &type : types) {
    const std::string zero = type == "bool" ? " = false;" : " = 0;";
    params += "param p_" + type + ": " + type + zero + " param d_" + type + ": " + type + zero +
              " kernel k_" + type + "(v: " + type +
              ", x: inout i32[1]) grid(1) block(1) cuda { if (v) x[0] += 1; }\ndef by_" + type +
              "(v: " + type + ", x: inout i32[1]) { k_" + type + "(v, x); }\n";
    body += "k_" + type + "(p_" + type + ", x); by_" + type + "(d_" + type + ", x);\n";
  }
  const auto state = std::make_shared<cgrt::InstanceState>(
      compile_text(params + "device inout x: i32[1]; graph main {" + body + "}"), place(),
      std::map<std::string, cgrt::Scalar>());
  const auto executable = std::make_shared<cgrt::ExecutableState>();
  executable->graph = state->find_graph("main");
  state->make(executable);
  for (const std::string &type : types) { // by resolving the nodes, which ends shortcuts
    set_by_transaction(*state, "p_" + type, 1);
    set_by_transaction(*state, "d_" + type, 1);
  }
  state->shortcuts.clear();
  for (const std::string &type : types) {
    for (const char *prefix : {"p_", "d_"}) {
      const std::string param = prefix + type;
      set_by_transaction(*state, param, 0);
      set_by_transaction(*state, param, 0);
      EXPECT_FALSE(state->shortcuts.set(*state, param, 1)) << param << ": not yet";
      set_by_transaction(*state, param, 1);
      EXPECT_TRUE(state->shortcuts.set(*state, param, 0)) << param;
    }
  }
}

/// As of a loop whose `max` is the param itself.
TEST_P(ShortcutTest, ALimitThatDependsOnAParamFollows) {
  const auto state = std::make_shared<cgrt::InstanceState>(compile_text(sums), place(),
                                                           std::map<std::string, cgrt::Scalar>());
  const auto executable = std::make_shared<cgrt::ExecutableState>();
  executable->graph = state->find_graph("main");
  state->make(executable);
  std::uint32_t report = 0;
  executable->loops.push_back(
      {&report, "loop", {}, 1, state->dependents().of(cgrt::format::ParamId{0})[0]});
  for (int value = 10; value < 16; ++value) {
    EXPECT_FALSE(state->shortcuts.set(*state, "a", value));
    set_by_transaction(*state, "a", value);
    EXPECT_EQ(executable->loops[0].limit, value);
  }
}

/// The second time is no change, so that no node has been changed in the executable yet.
TEST_P(ShortcutTest, ARefusedChangeCountsForNothing) {
  cgrt::Instance instance(compile_text(R"(
    param n: i32 = 1; param a: i32 = 1; device inout x: i32[1];
    kernel put(v: i32, x: inout i32[1]) grid(1) block(1) cuda { x[0] = v; }
    graph main { put<<<n, 1>>>(a, x); })"),
                          place());
  write_words(instance, "x", {0});
  cgrt::Executable graph = instance.executable();
  EXPECT_FALSE(message_of(ErrorCode::InvalidValue, [&] { instance.set("n", -1); }).empty());
  for (const int value : {1, 1, 7, 7, 8, 9}) {
    instance.set("a", value);
    run(graph);
    EXPECT_EQ(first(instance, "x"), value);
  }
}

TEST_P(ShortcutTest, AChangeThatTheDeviceRefusesIsTakenBack) {
  const auto state = std::make_shared<cgrt::InstanceState>(compile_text(sums), place(),
                                                           std::map<std::string, cgrt::Scalar>());
  bool refuses = false;
  std::vector<std::shared_ptr<cgrt::ExecutableState>> executables;
  for (const char *name : {"main", "only_x"}) {
    auto &made = executables.emplace_back(std::make_shared<cgrt::ExecutableState>());
    made->graph = state->find_graph(name);
    state->make(made);
  }
  auto &last = executables.back()->executable;
  last = std::make_unique<Refusing>(std::move(last), refuses);
  const auto value_of = [&](const std::size_t executable, const char *buffer) {
    executables[executable]->executable->launch(&state->order.next(nullptr, {}));
    state->order.wait();
    std::int32_t value = 0;
    device().copy(reinterpret_cast<std::byte *>(&value), state->placed[state->find(buffer)].data,
                  sizeof(value));
    return value;
  };
  for (const std::int64_t v : {5, 6}) {
    EXPECT_FALSE(state->shortcuts.set(*state, "a", v)) << "not yet";
    set_by_transaction(*state, "a", v);
  }
  const auto report = state->shortcuts.set(*state, "a", 7);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->nodes, 3U);
  EXPECT_EQ(value_of(0, "y"), 9);
  EXPECT_EQ(value_of(1, "x"), 7);
  refuses = true;
  EXPECT_FALSE(state->shortcuts.set(*state, "a", 8));
  EXPECT_EQ(state->parameters.value(cgrt::format::ParamId{0}).bits(), 7U);
  EXPECT_EQ(value_of(0, "y"), 9);
  EXPECT_EQ(value_of(1, "x"), 7);
  refuses = false;
  EXPECT_FALSE(state->shortcuts.set(*state, "a", 8)) << "it is to be learnt anew";
}

} // namespace conformance
