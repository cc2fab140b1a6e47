#include "format/bundle.h"
#include "format/sha256.h"

#include "unit/text_compilation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace cgrt::format {
namespace {

using cgc::testing::TextCompilation;
using testing::HasSubstr;

constexpr std::string_view source = R"(
const TILE = 16;
param n: i32 = 64;
param a: f32;
kernel k(n: i32, a: f32, x: in f32[n], y: out f32[n]) grid(ceildiv(n, TILE)) block(TILE)
cuda { int i = blockIdx.x * TILE + threadIdx.x; if (i < n) y[i] = a * x[i]; }
kernel outside(m: u64, x: inout f32[m]) grid(1) block(1) external;
host in hx: f32[n];
host out hy: f32[n];
device x, y: f32[n];
device w: f64[n, 2];
callback told(m: i32, y: in f32[m]);
@concurrent captured moved(m: i32, x: in f32[m], y: out f32[m]);
graph main {
  @timing event t;
  @external event e;
  stream s;
  copy x <- hx; fill w <- 1.5; k(n, a, x, y); copy hy <- y;
  record t; wait e; told(n, hy); on s { moved(n, x, y); }
  outside(u64(n), x);
}
)";

/// A program with every kind of content, images included.
cgc::Module sample() {
  const TextCompilation compilation(source);
  EXPECT_EQ(compilation.errors(), "");
  cgc::Module module = compilation.module();
  module.program.images.push_back(
      {ImageKind::Ptx, "compute_90", {KernelId{0}}, std::vector<std::byte>(5, std::byte{7})});
  Program &program = module.program;
  program.kernels[0].cuda_symbol = "_Z1kv";
  program.kernels[0].inplace = true;
  program.kernels[2].strided = true;
  program.buffers[0].mapped = true;
  program.graphs[0].nodes[2].name = "named";
  // A second graph holds the first.
  program.graphs[0].entry = false;
  Graph outer;
  outer.name = "outer";
  outer.explicit_order = true;
  outer.nodes.push_back({ChildWork{{0}}, {}, {}});
  program.graphs.push_back(std::move(outer));
  return module;
}

std::string refusal(std::span<const std::byte> bytes) {
  try {
    decode_bundle(bytes, "test.cgb");
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::InvalidProgram);
    return error.what();
  }
  return "accepted";
}

TEST(Bundle, HoldsTheWholeProgram) {
  const cgc::Module module = sample();
  const auto bytes = encode_bundle(module.program);
  cgc::Module read;
  read.program = decode_bundle(bytes, "test.cgb");
  // The IR's text shows everything but the images.
  EXPECT_EQ(print(read), print(module));
  ASSERT_EQ(read.program.images.size(), 1U);
  EXPECT_EQ(read.program.images[0].architecture, "compute_90");
  EXPECT_EQ(read.program.kernels[0].cuda_symbol, "_Z1kv");
  EXPECT_EQ(read.program.images[0].kernels, module.program.images[0].kernels);
  EXPECT_EQ(read.program.images[0].bytes, module.program.images[0].bytes);
  EXPECT_EQ(encode_bundle(read.program), bytes);
}

TEST(Bundle, RefusesEveryTruncation) {
  const auto bytes = encode_bundle(sample().program);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    ASSERT_THAT(refusal(std::span(bytes).first(length)),
                testing::AnyOf(HasSubstr("not a cgraph bundle"), HasSubstr("truncated")))
        << length;
  }
}

TEST(Bundle, RefusesEveryFlippedByte) {
  const auto bytes = encode_bundle(sample().program);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] ^= std::byte{0x10};
    ASSERT_NE(refusal(damaged), "accepted") << at;
  }
}

TEST(Bundle, SaysWhatIsWrong) {
  auto bytes = encode_bundle(sample().program);
  auto newer = bytes;
  newer[8] = std::byte{bundle_version + 1};
  EXPECT_THAT(refusal(newer),
              testing::AllOf(HasSubstr("test.cgb"),
                             HasSubstr("version " + std::to_string(bundle_version + 1)),
                             HasSubstr("update cgrt")));
  auto longer = bytes;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refusal(longer), HasSubstr("bytes follow"));
  bytes.back() ^= std::byte{1};
  EXPECT_THAT(refusal(bytes), HasSubstr("checksum"));
}

/// Behind the checksum, whatever is flipped, the answer is a program or an error.
TEST(Bundle, SurvivesEveryFlippedBitBehindTheChecksum) {
  const auto bytes = encode_bundle(sample().program);
  const std::vector<std::byte> payload(bytes.begin() + bundle_header_bytes, bytes.end());
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * payload.size(); ++bit) {
    auto damaged = payload;
    damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    try {
      EXPECT_TRUE(verify(decode_payload(damaged, "test.cgb")).empty());
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidProgram);
      ++refused;
    }
  }
  EXPECT_GT(refused, payload.size()); // most flips matter
}

struct Breakage {
  std::string what; ///< part of the verifier's message
  std::function<void(Program &)> apply;
};

TEST(Bundle, RefusesExpressionsThatLieAskew) {
  Program program;
  for (const std::int64_t value : {1, 2, 3}) {
    program.exprs.constant(Value::of(value));
  }
  const std::vector<std::byte> bundle = encode_bundle(program);
  const auto payload = std::span(bundle).subspan(bundle_header_bytes);
  bool refused = false;
  // One of the words is the offset of the expressions. 4 bytes further, the first one's value is
  // taken for their count.
  for (std::size_t at = 0; at + 4 <= payload.size(); at += 4) {
    std::vector<std::byte> moved(payload.begin(), payload.end());
    std::uint32_t word = 0;
    std::memcpy(&word, &moved[at], 4);
    word += 4;
    std::memcpy(&moved[at], &word, 4);
    try {
      decode_payload(moved, "test.cgb");
    } catch (const Error &error) {
      refused = refused || std::string_view(error.what()).ends_with("are not aligned");
    }
  }
  EXPECT_TRUE(refused);
}

TEST(Verify, FindsEachBrokenRule) {
  const Breakage breakages[] = {
      {"names no parameter", [](Program &p) { p.params.clear(); }},
      {"stands twice", [](Program &p) { p.buffers[1].name = p.buffers[0].name; }},
      {"dimensions", [](Program &p) { p.buffers[0].shape.clear(); }},
      {"is no expression", [](Program &p) { p.buffers[0].shape[0] = {100000}; }},
      {"no symbol", [](Program &p) { p.kernels[0].symbol.clear(); }},
      {"no symbol", [](Program &p) { p.kernels[0].cuda_symbol = std::string("a\0b", 3); }},
      {"ascending kernels", [](Program &p) { p.images[0].kernels = {{99}}; }},
      {"ascending kernels",
       [](Program &p) {
         p.images[0].kernels = {{0}, {0}};
       }},
      {"unknown kind", [](Program &p) { p.images[0].kind = static_cast<ImageKind>(4); }},
      {"names no kernel",
       [](Program &p) { std::get<KernelWork>(p.graphs[0].nodes[2].work).kernel = {99}; }},
      {"arguments",
       [](Program &p) { std::get<KernelWork>(p.graphs[0].nodes[2].work).arguments.pop_back(); }},
      {"scalar for a buffer",
       [](Program &p) {
         auto &work = std::get<KernelWork>(p.graphs[0].nodes[2].work);
         work.arguments[2] = work.arguments[0];
       }},
      {"names no buffer",
       [](Program &p) { std::get<CopyWork>(p.graphs[0].nodes[0].work).source.buffer = {99}; }},
      {"ascending earlier nodes",
       [](Program &p) {
         p.graphs[0].nodes[0].dependencies = {{{3}, {}}};
       }},
      {"ascending earlier nodes",
       [](Program &p) {
         p.graphs[0].nodes[3].dependencies = {{{2}, {}}, {{2}, {}}};
       }},
      {"names no file", [](Program &p) { p.graphs[0].nodes[0].place.file = {5}; }},
      {"not constant",
       [](Program &p) { p.params[0].default_value = p.exprs.parameter({0}, ScalarType::I32); }},
      {"gives 1 ranges for the 2",
       [](Program &p) {
         auto &work = std::get<KernelWork>(p.graphs[0].nodes[1].work);
         std::get<Region>(work.arguments[2]).ranges.pop_back();
       }},
      {"range's count is no expression",
       [](Program &p) {
         std::get<CopyWork>(p.graphs[0].nodes[0].work).source.ranges[0].count = {100000};
       }},
      {"priority is no expression",
       [](Program &p) { std::get<KernelWork>(p.graphs[0].nodes[1].work).priority = Quantity(); }},
      {"names no event",
       [](Program &p) { std::get<EventRecordWork>(p.graphs[0].nodes[4].work).event = {9}; }},
      {"not the caller's", [](Program &p) { p.events[1].external = false; }},
      {"names no function",
       [](Program &p) { std::get<CallbackWork>(p.graphs[0].nodes[6].work).function = {9}; }},
      {"of another kind",
       [](Program &p) { std::get<CallbackWork>(p.graphs[0].nodes[6].work).function = {1}; }},
      {"of an unknown kind",
       [](Program &p) { p.callables[0].kind = static_cast<CallableKind>(2); }},
      {"stands twice", [](Program &p) { p.callables[1].name = p.callables[0].name; }},
      {"1 arguments instead of 2",
       [](Program &p) { std::get<CallbackWork>(p.graphs[0].nodes[6].work).arguments.pop_back(); }},
      {"given device memory",
       [](Program &p) {
         const auto &moved = std::get<CapturedWork>(p.graphs[0].nodes[7].work);
         std::get<CallbackWork>(p.graphs[0].nodes[6].work).arguments[1] = moved.arguments[1];
       }},
      {"given a condition",
       [](Program &p) {
         p.callables[0].params[0].type = ScalarType::U64;
         std::get<CallbackWork>(p.graphs[0].nodes[6].work).arguments[0] = ConditionId{0};
       }},
      {"external and has code", [](Program &p) { p.kernels[1].strided = true; }},
      {"external and has code", [](Program &p) { p.kernels[1].cuda_symbol = "k"; }},
      {"holds external kernels",
       [](Program &p) {
         p.images[0].kernels = {{0}, {1}};
       }},
      {"external kernel is given a condition",
       [](Program &p) {
         std::get<KernelWork>(p.graphs[0].nodes[8].work).arguments[0] = ConditionId{0};
       }},
      {"only host memory is mapped", [](Program &p) { p.buffers[2].mapped = true; }},
      {"not a child graph", [](Program &p) { p.graphs[0].entry = true; }},
      {"not a child graph",
       [](Program &p) {
         std::get<ChildWork>(p.graphs[1].nodes[0].work).graph = {1};
         p.graphs[1].entry = false;
       }},
      {"not a child graph",
       [](Program &p) { std::get<ChildWork>(p.graphs[1].nodes[0].work).graph = {7}; }},
      {"stands twice", [](Program &p) { p.graphs[1].name = p.graphs[0].name; }},
      {"at most 4 bytes",
       [](Program &p) {
         const auto region =
             std::get<Region>(std::get<KernelWork>(p.graphs[0].nodes[1].work).arguments[2]);
         p.graphs[0].nodes[1].work = FillWork{region, region.ranges[0].count};
       }},
      {"does not stand before it",
       [](Program &p) {
         Expr expr;
         expr.op = ExprOp::Neg;
         expr.a = {p.exprs.size()};
         p.exprs.append(expr);
       }},
      {"its kind does not follow",
       [](Program &p) {
         Expr expr;
         expr.op = ExprOp::Neg;
         expr.a = {0};
         expr.kind = ValueKind::Bool;
         p.exprs.append(expr);
       }},
  };
  for (const Breakage &breakage : breakages) {
    Program program = sample().program;
    ASSERT_TRUE(verify(program).empty());
    breakage.apply(program);
    const auto problems = verify(program);
    ASSERT_FALSE(problems.empty()) << breakage.what;
    EXPECT_THAT(problems[0], HasSubstr(breakage.what));
  }
}

} // namespace
} // namespace cgrt::format
