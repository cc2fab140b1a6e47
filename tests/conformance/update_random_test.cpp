// An instance that has been updated any number of times does what a new one does that is given the
// same values: random changes of params, sizes and memory, and some that are refused.
#include "hand_made.h"
#include "text_program.h"

#include <map>
#include <random>

namespace conformance {

class UpdateRandomTest : public ProgramsUnderTest {
protected:
  static constexpr const char *text = R"(
    param n: i32 = 6; param m: i32 = 5; param at: i32 = 1; param width: i32 = 3;
    param v: i32 = 4; param grid: i32 = 2; param urgency: i32 = 0; param rounds: i32 = 2;
    host in h: i32[n, m]; device inout x: i32[n, m]; device out y: i32[n, m]; device out s: i32[n];
    device t: i32[n, m]; device i: i32[1];
    kernel add(count: i32, v: i32, x: inout i32[count]) grid(ceildiv(count, 4)) block(4)
    cuda { const int i = blockIdx.x * 4 + threadIdx.x; if (i < count) x[i] += v; }
    kernel mark(v: i32, bytes: i32, s: inout i32[1]) grid(1) block(4) shared(bytes)
    cuda { if (threadIdx.x == 0) atomicAdd(&s[0], v * static_cast<int>(blockIdx.x + 1)); }
    callback told(urgency: i32);
    def twice(row: inout i32[m]) { add(m, v, row); add(m, v + 1, row); }
    graph main {
      copy t <- h;
      fill y <- v;
      copy y[at:at + 2, 0:width] <- t[0:2, m - width:m];
      fill x[at, :] <- v * 3;
      fill s <- 0;
      mark<<<grid, 4>>>(v, 16 * width, s[at]);
      told(urgency);
      i[0] = 0;
      while (i[0] < rounds) { twice(x[at]); i[0] = i[0] + 1; }
      add(n * m, v, y);
    }
    graph other { fill x[:, at:at + width] <- v; })";

  using Values = std::map<std::string, std::int64_t>;
  using Result = std::map<std::string, std::vector<std::uint32_t>>;

  static std::vector<std::uint32_t> numbers(std::size_t count, unsigned from) {
    std::vector<std::uint32_t> all(count);
    for (std::size_t i = 0; i < count; ++i) {
      all[i] = from + static_cast<unsigned>(i);
    }
    return all;
  }

  static std::map<std::string, cgrt::Scalar> scalars(const Values &values) {
    return {values.begin(), values.end()};
  }

  /// An instance with its executables.
  struct Subject {
    Subject(const cgrt::Program &program, const cgrt::Device &device, const Values &values)
        : instance(program, device, scalars(values)),
          main((instance.bind_callback("told", [this](std::int32_t value) { heard = value; }),
                instance.executable("main"))),
          other(instance.executable("other")) {}

    Result run() {
      for (const char *name : {"h", "x"}) {
        write_words(instance, name, numbers(instance.buffer(name).bytes / 4, 100));
      }
      main.launch();
      other.launch();
      other.wait();
      main.wait();
      return {{"x", read_words(instance, "x")},
              {"y", read_words(instance, "y")},
              {"s", read_words(instance, "s")},
              {"heard", {static_cast<std::uint32_t>(heard)}}};
    }

    std::int32_t heard = 0;
    cgrt::Instance instance;
    cgrt::Executable main, other;
  };
};
CONFORMANCE_SUITE(UpdateRandomTest);

TEST_P(UpdateRandomTest, AnUpdatedInstanceDoesWhatANewOneDoes) {
  const cgrt::Program program = compile_text(text);
  const std::vector<std::pair<std::string, std::vector<std::int64_t>>> choices = {
      {"n", {3, 4, 6, 9}},        {"m", {3, 5, 8}},      {"at", {0, 1, 2, 5}},
      {"width", {0, 1, 2, 3, 6}}, {"v", {-1, 0, 7, 90}}, {"grid", {0, 1, 3, -1}},
      {"urgency", {0, -1, -2}},   {"rounds", {0, 1, 3}}};
  std::mt19937 random(3);
  Values values = {{"n", 6}, {"m", 5},    {"at", 1},      {"width", 3},
                   {"v", 4}, {"grid", 2}, {"urgency", 0}, {"rounds", 2}};
  Subject subject(program, place(), values);
  const Array<std::int32_t> memory(device(), std::vector<std::int32_t>(2000, 0));
  std::map<cgrt::UpdateKind, int> kinds;
  int refused = 0;
  for (int step = 0; step < 150; ++step) {
    Values wanted = values;
    cgrt::Changes changes;
    for (unsigned i = 0; i <= random() % 3; ++i) {
      const auto &[name, among] = choices[random() % choices.size()];
      changes.params[name] = wanted[name] = among[random() % among.size()];
    }
    if (random() % 3 == 0) {
      const std::span<std::int32_t> all(reinterpret_cast<std::int32_t *>(memory.data()), 2000);
      changes.memory[random() % 2 == 0 ? "x" : "y"] = all.subspan(random() % 10 * 100, 100);
    }
    std::optional<Result> expected;
    try {
      expected = Subject(program, place(), wanted).run();
    } catch (const cgrt::Error &) {
      // These values are not legal.
    }
    try {
      const cgrt::UpdateReport report = subject.instance.update(changes);
      EXPECT_TRUE(expected) << "step " << step << ": accepted";
      values = wanted;
      ++kinds[report.kind];
    } catch (const cgrt::Error &error) {
      const bool overlaps = std::string(error.what()).find("[alias]") != std::string::npos;
      EXPECT_TRUE(!expected || overlaps) << "step " << step << ": " << error.what();
      ++refused;
      expected = Subject(program, place(), values).run();
    }
    ASSERT_EQ(subject.run(), *expected) << "step " << step;
  }
  EXPECT_GT(kinds[cgrt::UpdateKind::InPlace], 10);
  EXPECT_GT(kinds[cgrt::UpdateKind::Rebuilt], 3);
  EXPECT_GT(refused, 10);
}

} // namespace conformance
