// The 16-bit floating types and their pairs beyond what scalar_argument_test.cpp has: each function
// against double arithmetic rounded once.
#include "device_under_test.h"

#include "format/value.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace conformance {

using cgrt::format::from_bf16_bits;
using cgrt::format::from_f16_bits;
using cgrt::format::to_bf16_bits;
using cgrt::format::to_f16_bits;
using testing::ElementsAre;

/// One of the two formats, with the names that CUDA gives it.
struct Format {
  ScalarType type;
  std::string element, pair;             ///< types
  std::string short_element, short_pair; ///< in functions' names
  std::uint16_t (*encode)(double);
  double (*decode)(std::uint16_t);
};

const std::array<Format, 2> &formats() {
  static const std::array<Format, 2> all = {
      {{ScalarType::F16, "__half", "__half2", "half", "half2", to_f16_bits, from_f16_bits},
       {ScalarType::BF16, "__nv_bfloat16", "__nv_bfloat162", "bfloat16", "bfloat162", to_bf16_bits,
        from_bf16_bits}}};
  return all;
}

class SmallFloatTest : public KernelsUnderTest {
protected:
  /// Runs a kernel of (in, out) with `T`, `P` and the functions' names in place: `T` and `P` are
  /// typedefs, `$e` and `$p` stand for the short names.
  std::vector<std::uint16_t> run(const Format &format, const std::string &body,
                                 const std::vector<double> &in, std::size_t count,
                                 Dim3 block = {}) {
    std::string text = "typedef " + format.element + " T; typedef " + format.pair + " P;\n" + body;
    for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at)) {
      text.replace(at, 2, text[at + 1] == 'e' ? format.short_element : format.short_pair);
    }
    const Kernels kernels =
        load({{"kernel", {input("in", format.type), output("out", format.type)}, text}});
    std::vector<std::uint16_t> bits;
    bits.reserve(in.size());
    for (const double value : in) {
      bits.push_back(format.encode(value));
    }
    const Array<std::uint16_t> from(device(), bits);
    const Array<std::uint16_t> out(device(), std::vector<std::uint16_t>(count, 0));
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {}, block, 0, {from.slot(), out.slot()}});
    run_once(*graph);
    return out.read();
  }

  /// As run(), decoded.
  std::vector<double> values(const Format &format, const std::string &body,
                             const std::vector<double> &in, std::size_t count, Dim3 block = {}) {
    std::vector<double> decoded;
    for (const std::uint16_t bits : run(format, body, in, count, block)) {
      decoded.push_back(format.decode(bits));
    }
    return decoded;
  }
};
CONFORMANCE_SUITE(SmallFloatTest);

/// A function of pairs, and what it computes of one element.
struct PairFunction {
  const char *call; ///< of a, b and c
  double (*exact)(double a, double b, double c);
};

double clamp_to_one(double x) {
  return std::clamp(x, 0.0, 1.0);
}
double bit(bool value) {
  return value ? 1 : 0;
}

constexpr std::array<PairFunction, 22> pair_functions = {{
    {"a + b", [](double a, double b, double) { return a + b; }},
    {"a - b", [](double a, double b, double) { return a - b; }},
    {"a * b", [](double a, double b, double) { return a * b; }},
    {"-a", [](double a, double, double) { return -a; }},
    {"__hadd2(a, b)", [](double a, double b, double) { return a + b; }},
    {"__hsub2(a, b)", [](double a, double b, double) { return a - b; }},
    {"__hmul2(a, b)", [](double a, double b, double) { return a * b; }},
    {"__hadd2_sat(a, b)", [](double a, double b, double) { return clamp_to_one(a + b); }},
    {"__hmul2_sat(a, b)", [](double a, double b, double) { return clamp_to_one(a * b); }},
    {"__hfma2(a, b, c)", [](double a, double b, double c) { return a * b + c; }},
    {"__hfma2_sat(a, b, c)", [](double a, double b, double c) { return clamp_to_one(a * b + c); }},
    {"__hfma2_relu(a, b, c)",
     [](double a, double b, double c) { return std::max(a * b + c, 0.0); }},
    {"__hmin2(a, b)", [](double a, double b, double) { return std::min(a, b); }},
    {"__hmax2(a, b)", [](double a, double b, double) { return std::max(a, b); }},
    {"__habs2(a)", [](double a, double, double) { return std::fabs(a); }},
    {"__hneg2(a)", [](double a, double, double) { return -a; }},
    {"__heq2(a, b)", [](double a, double b, double) { return bit(a == b); }},
    {"__hltu2(a, b)", [](double a, double b, double) { return bit(a < b); }},
    {"__hge2(a, b)", [](double a, double b, double) { return bit(a >= b); }},
    {"h2floor(a)", [](double a, double, double) { return std::floor(a); }},
    {"h2rint(a)", [](double a, double, double) { return std::rint(a); }},
    {"h2trunc(a)", [](double a, double, double) { return std::trunc(a); }},
}};

TEST_P(SmallFloatTest, PairsComputeElementByElement) {
  // a, b and c of the low element, then of the high one.
  const std::vector<double> in = {0.2998046875, 1.5, -0.75, 2.5, -3.25, 0.0625};
  for (const Format &format : formats()) {
    std::string body = "const P a(in[0], in[3]), b(in[1], in[4]), c(in[2], in[5]); P r;\n";
    for (std::size_t k = 0; k < pair_functions.size(); ++k) {
      const std::string at = std::to_string(2 * k);
      body += "r = " + std::string(pair_functions[k].call) + "; out[" + at + "] = r.x; out[" + at +
              " + 1] = r.y;\n";
    }
    const auto out = run(format, body, in, 2 * pair_functions.size());
    std::vector<double> rounded;
    rounded.reserve(in.size());
    for (const double value : in) {
      rounded.push_back(format.decode(format.encode(value)));
    }
    for (std::size_t k = 0; k < pair_functions.size(); ++k) {
      for (std::size_t e = 0; e < 2; ++e) {
        const double *x = &rounded[3 * e];
        EXPECT_EQ(out[2 * k + e], format.encode(pair_functions[k].exact(x[0], x[1], x[2])))
            << format.pair << ": " << pair_functions[k].call << ", element " << e;
      }
    }
  }
}

TEST_P(SmallFloatTest, ScalarFunctions) {
  for (const Format &format : formats()) {
    EXPECT_THAT(values(format,
                       "out[0] = __hadd(in[0], in[1]);\n"
                       "out[1] = __hsub(in[0], in[1]);\n"
                       "out[2] = __hmul(in[0], in[1]);\n"
                       "out[3] = __hfma(in[0], in[1], in[0]);\n"
                       "out[4] = __habs(in[0]);\n"
                       "out[5] = __hmax(in[0], in[1]);\n"
                       "out[6] = __hadd_sat(in[0], in[1]);\n"
                       "T x = in[0]; x += in[1]; ++x; out[7] = x--; out[8] = x;\n"
                       "out[9] = hceil(in[0]);\n",
                       {-2.5, 4}, 10),
                ElementsAre(1.5, -6.5, -10, -12.5, 2.5, 4, 1, 2.5, 1.5, -2));
  }
}

TEST_P(SmallFloatTest, ComparisonsAndNaN) {
  for (const Format &format : formats()) {
    // in[2] is NaN: ordered comparisons are false, the others true.
    EXPECT_THAT(
        values(format,
               "const T a = in[0], b = in[1], n = in[2];\n"
               "out[0] = T(float(__hlt(a, b) + 2 * __hgt(a, b) + 4 * __heq(a, a) + 8 * __hne(a, "
               "b)));\n"
               "out[1] = T(float(__hne(n, a) + 2 * __hneu(n, a) + 4 * (n != a) + 8 * (n == n)));\n"
               "out[2] = T(float(__hlt(n, a) + 2 * __hltu(n, a) + 4 * __hisnan(n) + 8 * "
               "__hisnan(a)));\n"
               "out[3] = T(float(__hmax(a, n))); out[4] = T(float(__hisnan(__hmax_nan(a, n))));\n"
               "out[5] = T(float(__hbeq2(P(a, b), P(a, b)) + 2 * __hbeq2(P(a, b), P(a, a)) +\n"
               "         4 * __hbneu2(P(n, n), P(a, b)) + 8 * (P(a, b) == P(a, b))));\n"
               "out[6] = T(float(__hlt2_mask(P(a, b), P(b, a)) == 0x0000FFFFu));\n",
               {1, 2, NAN}, 7),
        ElementsAre(1 + 4 + 8, 2 + 4, 2 + 4, 1, 1, 1 + 4 + 8, 1));
  }
}

TEST_P(SmallFloatTest, PairsAreMadeAndTakenApart) {
  for (const Format &format : formats()) {
    EXPECT_THAT(
        values(
            format,
            "P r[11] = {make_$p(in[0], in[1]), __halves2$p(in[0], in[1]), __$e2$p(in[1]),\n"
            "  __float2$p_rn(3.f), __floats2$p_rn(3.f, 4.f), __float22$p_rn(make_float2(5, 6)),\n"
            "  __lowhigh2highlow(P(in[0], in[1])), __low2$p(P(in[0], in[1])),\n"
            "  __high2$p(P(in[0], in[1])), __lows2$p(P(in[0], in[1]), P(in[1], in[1])),\n"
            "  __highs2$p(P(in[0], in[0]), P(in[1], in[1]))};\n"
            "for (int i = 0; i < 11; ++i) { out[2 * i] = r[i].x; out[2 * i + 1] = r[i].y; }\n"
            "const float2 f = __$p2float2(r[0]);\n"
            "out[22] = T(f.x * 10 + f.y);\n"
            "out[23] = T(__low2float(r[0]) * 10 + __high2float(r[0]));\n"
            "out[24] = __low2$e(r[0]); out[25] = __high2$e(r[0]);\n"
            "P s(in[0], in[1]); s += s; s *= s; s -= P(in[1], in[1]); out[26] = s.x; out[27] = "
            "s.y;",
            {1, 2}, 28),
        ElementsAre(1, 2, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, 2, 1, 1, 1, 2, 2, 1, 2, 1, 2, 12, 12, 1, 2,
                    2, 14));
  }
}

TEST_P(SmallFloatTest, IntegersConvert) {
  for (const Format &format : formats()) {
    EXPECT_THAT(
        values(format,
               "out[0] = __int2$e_rn(-77); out[1] = __ushort2$e_rn(200);\n"
               "out[2] = __ll2$e_rn(64ll); out[3] = __uint2$e_rn(96u);\n"
               "const int n[9] = {__$e2int_rn(in[0]), __$e2int_rz(in[0]), __$e2int_ru(in[0]),\n"
               "  __$e2int_rd(in[0]), __$e2short_rz(in[1]), (int)__$e2ull_rz(in[1]),\n"
               "  (int)__$e2uint_rn(in[0]), __$e2char_rz(in[2]), __$e2uchar_rz(in[2])};\n"
               "for (int i = 0; i < 9; ++i) out[4 + i] = T(float(n[i]));",
               {-2.5, 90.5, 192}, 13),
        ElementsAre(-77, 200, 64, 96, -2, -2, -2, -3, 90, 90, 0, 127, 192));
  }
}

TEST_P(SmallFloatTest, AtomicAdditions) {
  // 250 additions of 1, and of pairs, are exact in both formats.
  for (const Format &format : formats()) {
    EXPECT_THAT(
        values(format,
               "atomicAdd(out, T(1.f));\n"
               "atomicAdd(out + 1, T(-0.5f));\n"
               "const P old = atomicAdd(reinterpret_cast<P *>(out + 2), P(T(1.f), T(-1.f)));\n"
               "if (float(old.x) != -float(old.y)) out[4] = T(1.f);",
               {0}, 5, {250, 1, 1}),
        ElementsAre(250, -125, 250, -250, 0));
  }
}

} // namespace conformance
