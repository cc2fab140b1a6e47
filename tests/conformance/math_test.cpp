// Functions that a kernel may call without an include: values against the host's own.
#include "device_under_test.h"

#include <cmath>

namespace conformance {

class MathTest : public KernelsUnderTest {
protected:
  /// Evaluates expressions in one thread.
  template <typename T>
  std::vector<T> evaluate(ScalarType type, const std::vector<std::string> &expressions) {
    std::string body;
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      body += "out[" + std::to_string(i) + "] = " + expressions[i] + ";\n";
    }
    // Arguments that no compiler can fold.
    const Kernels kernels = load(
        {{"evaluate",
          {scalar("f", ScalarType::F32), scalar("d", ScalarType::F64), scalar("i", ScalarType::I32),
           scalar("u", ScalarType::U32), scalar("l", ScalarType::I64), output("out", type)},
          body}});
    const auto out = Array<T>::fresh(device(), expressions.size());
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0],
                                   {},
                                   {},
                                   0,
                                   {slot(2.5F), slot(-0.75), slot(std::int32_t{-7}),
                                    slot(std::uint32_t{0x80000005}),
                                    slot(std::int64_t{-5'000'000'000}), out.slot()}});
    run_once(*graph);
    return out.read();
  }
};
CONFORMANCE_SUITE(MathTest);

template <typename T> struct Case {
  std::string expression;
  T expected;
};

template <typename T> std::vector<std::string> expressions(const std::vector<Case<T>> &cases) {
  std::vector<std::string> result;
  result.reserve(cases.size());
  for (const Case<T> &one : cases) {
    result.push_back(one.expression);
  }
  return result;
}

TEST_P(MathTest, Floats) {
  const float pi = 3.14159274F;
  const std::vector<Case<float>> cases = {
      {"sinf(f)", std::sin(2.5F)},
      {"cos(f)", std::cos(2.5F)},
      {"expf(f)", std::exp(2.5F)},
      {"__expf(f)", std::exp(2.5F)},
      {"__logf(f)", std::log(2.5F)},
      {"__sinf(f)", std::sin(2.5F)},
      {"__cosf(f)", std::cos(2.5F)},
      {"__powf(f, 1.5f)", std::pow(2.5F, 1.5F)},
      {"powf(f, 3)", 15.625F},
      {"pow(f, 3)", 15.625F},
      {"sqrtf(f)", std::sqrt(2.5F)},
      {"rsqrtf(f)", 1 / std::sqrt(2.5F)},
      {"rsqrt(f)", 1 / std::sqrt(2.5F)},
      {"__frsqrt_rn(f)", 1 / std::sqrt(2.5F)},
      {"fmaf(f, f, 1)", 7.25F},
      {"fma(f, f, 1.0f)", 7.25F},
      {"__fdividef(f, 2)", 1.25F},
      {"__saturatef(f)", 1},
      {"__saturatef(f - 2)", 0.5F},
      {"__saturatef(nanf(\"\"))", 0},
      {"min(f, 2.0f)", 2},
      {"max(f, 3.0f)", 3},
      {"fminf(f, nanf(\"\"))", 2.5F},
      {"exp10f(f)", std::pow(10.0F, 2.5F)},
      {"sinpif(f)", 1},
      {"cospif(f)", 0},
      {"cospi(f + 0.5f)", -1},
      {"normcdff(0.0f)", 0.5F},
      {"erff(f)", std::erf(2.5F)},
      {"hypotf(f, 6)", 6.5F},
      {"norm3df(f, 6, 0)", 6.5F},
      {"copysignf(f, -1)", -2.5F},
      {"truncf(f) + ceilf(f) * 10 + rintf(f) * 100 + roundf(f) * 1000", 3232},
      {"__int_as_float(0x40490fdb)", pi},
      {"abs(-f)", 2.5F},
      {"fmodf(f, 2)", 0.5F},
      {"__uint2float_rn(u)", 2147483648.0F},
  };
  const std::vector<float> out = evaluate<float>(ScalarType::F32, expressions(cases));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_NEAR(out[i], cases[i].expected, 2e-6F * std::fabs(cases[i].expected) + 2e-7F)
        << cases[i].expression;
  }
}

TEST_P(MathTest, Doubles) {
  const std::vector<Case<double>> cases = {
      {"sin(d)", std::sin(-0.75)},
      {"exp(d)", std::exp(-0.75)},
      {"log1p(d)", std::log1p(-0.75)},
      {"rsqrt(-d)", 1 / std::sqrt(0.75)},
      {"cbrt(d)", std::cbrt(-0.75)},
      {"fma(d, d, 1.0)", 1.5625},
      {"max(d, f)", 2.5},
      {"min(f, d)", -0.75},
      {"abs(d)", 0.75},
      {"pow(d, 2)", 0.5625},
      {"sinpi(d)", -std::sqrt(0.5)},
      {"__hiloint2double(__double2hiint(d), 0)", -0.75},
      {"tgamma(5.0 + d)", std::tgamma(4.25)},
  };
  const std::vector<double> out = evaluate<double>(ScalarType::F64, expressions(cases));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_NEAR(out[i], cases[i].expected, 1e-14 * std::fabs(cases[i].expected))
        << cases[i].expression;
  }
}

TEST_P(MathTest, Integers) {
  const std::vector<Case<std::int64_t>> cases = {
      {"__popc(u)", 3},
      {"__popcll(l)", __builtin_popcountll(static_cast<std::uint64_t>(-5'000'000'000))},
      {"__clz(i)", 0},
      {"__clz(0)", 32},
      {"__clzll(1ll << 33)", 30},
      {"__ffs(i)", 1},
      {"__ffs(0)", 0},
      {"__ffsll(1ll << 40)", 41},
      {"__brev(u)", 0xA0000001},
      {"__brevll(1ull) == 1ull << 63", 1},
      {"__mulhi(i, 1 << 30)", -2},
      {"__umulhi(u, 4u)", 2},
      {"__mul64hi(l, 1ll << 40)", -299},
      {"__umul64hi(1ull << 63, 6ull)", 3},
      {"__mul24(i, 3)", -21},
      {"__byte_perm(0x33221100u, 0x77665544u, 0x7250u)", 0x77225500},
      {"__funnelshift_l(0x80000000u, 1u, 1u)", 3},
      {"__funnelshift_r(0u, 1u, 1u)", 0x80000000},
      {"__sad(i, 3, 100u)", 110},
      {"__hadd(i, 2)", -3},
      {"__rhadd(i, 2)", -2},
      {"__dp4a(0x01020304, 0x01010101, 5)", 15},
      {"min(i, 5)", -7},
      {"max(i, 5)", 5},
      {"max(i, 5u)", 0xFFFFFFF9},
      {"min(l, 0ll)", -5'000'000'000},
      {"abs(i)", 7},
      {"abs(l)", 5'000'000'000},
      {"__float2int_rn(f)", 2},
      {"__float2int_ru(f)", 3},
      {"__float2int_rz(-f)", -2},
      {"__float2int_rd(-f)", -3},
      {"__float2int_rz(1e20f)", 0x7FFFFFFF},
      {"__float2uint_rz(-f)", 0},
      {"__float2int_rz(nanf(\"\"))", 0},
      {"__double2ll_rn(d * 4e9)", -3'000'000'000},
      {"__float_as_int(1.0f)", 0x3F800000},
      {"isnan(f) + isinf(d / 0.0) * 2 + isfinite(f) * 4 + (signbit(d) ? 8 : 0)", 14},
      {"warpSize", 32},
      {"sizeof(float3) * 100 + alignof(float4)", 1216},
      {"make_int4(1, 2, 3, 4).z + make_uchar2(7, 8).y", 11},
      {"dim3(5).y", 1},
  };
  const std::vector<std::int64_t> out = evaluate<std::int64_t>(ScalarType::I64, expressions(cases));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(out[i], cases[i].expected) << cases[i].expression;
  }
}

} // namespace conformance
