// Scalar arguments of every type arrive bit for bit, wherever they stand among the others.
#include "device_under_test.h"

#include <cmath>
#include <limits>

namespace conformance {

class ScalarArgumentTest : public KernelsUnderTest {
protected:
  /// Passes `value` between two bytes and reads it back.
  template <typename T> T round_trip(const Kernels &kernels, std::uint32_t kernel, T value) {
    const auto out = Array<T>::fresh(device(), 1);
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{
                    &kernels[kernel],
                    {},
                    {},
                    0,
                    {slot(std::uint8_t{0xA5}), slot(value), slot(std::uint8_t{0x5A}), out.slot()}});
    run_once(*graph);
    return out.read().front();
  }

  static KernelText echo(const std::string &name, ScalarType type) {
    return {name,
            {scalar("before", ScalarType::U8), scalar("value", type),
             scalar("behind", ScalarType::U8), output("out", type)},
            "if (before == 0xA5 && behind == 0x5A) out[0] = value;"};
  }

  template <typename T> void expect_exact(ScalarType type, const std::vector<T> &values) {
    const Kernels kernels = load({echo("echo", type)});
    for (const T value : values) {
      EXPECT_EQ(round_trip(kernels, 0, value), value);
    }
  }
};
CONFORMANCE_SUITE(ScalarArgumentTest);

template <typename T> std::vector<T> extremes() {
  using Limits = std::numeric_limits<T>;
  return {T{0}, T{1}, T{42}, Limits::lowest(), Limits::max(), static_cast<T>(Limits::max() / 3)};
}

TEST_P(ScalarArgumentTest, Integers) {
  expect_exact(ScalarType::U8, extremes<std::uint8_t>());
  expect_exact(ScalarType::I8, extremes<std::int8_t>());
  expect_exact(ScalarType::U16, extremes<std::uint16_t>());
  expect_exact(ScalarType::I16, extremes<std::int16_t>());
  expect_exact(ScalarType::U32, extremes<std::uint32_t>());
  expect_exact(ScalarType::I32, extremes<std::int32_t>());
  expect_exact(ScalarType::U64, extremes<std::uint64_t>());
  expect_exact(ScalarType::I64, extremes<std::int64_t>());
}

TEST_P(ScalarArgumentTest, Floats) {
  expect_exact<float>(ScalarType::F32, {0.1F, -1e-40F, 3e38F, -INFINITY});
  expect_exact<double>(ScalarType::F64, {0.1, -1e-310, 1.7e308, INFINITY});
}

TEST_P(ScalarArgumentTest, Booleans) {
  const Kernels kernels = load({echo("echo", ScalarType::Bool)});
  EXPECT_EQ(round_trip(kernels, 0, std::uint8_t{1}), 1);
  EXPECT_EQ(round_trip(kernels, 0, std::uint8_t{0}), 0);
}

TEST_P(ScalarArgumentTest, MixedWidthsInOneList) {
  const Kernels kernels = load(
      {{"echo",
        {scalar("a", ScalarType::U8), scalar("b", ScalarType::F64), scalar("c", ScalarType::U16),
         scalar("d", ScalarType::I64), scalar("e", ScalarType::U8), output("bytes", ScalarType::U8),
         output("wide", ScalarType::F64), output("halves", ScalarType::U16),
         output("integers", ScalarType::I64)},
        "bytes[0] = a; wide[0] = b; halves[0] = c; integers[0] = d; bytes[1] = e;"}});
  const auto bytes = Array<std::uint8_t>::fresh(device(), 2);
  const auto wide = Array<double>::fresh(device(), 1);
  const auto halves = Array<std::uint16_t>::fresh(device(), 1);
  const auto integers = Array<std::int64_t>::fresh(device(), 1);
  const std::int64_t d = -0x0123456789ABCDEF;
  const auto graph = device().create_graph();
  add(*graph, cgrt::KernelParams{&kernels[0],
                                 {},
                                 {},
                                 0,
                                 {slot(std::uint8_t{0x81}), slot(-1.25e-300),
                                  slot(std::uint16_t{0xFEDC}), slot(d), slot(std::uint8_t{0x7F}),
                                  bytes.slot(), wide.slot(), halves.slot(), integers.slot()}});
  run_once(*graph);
  EXPECT_EQ(bytes.read(), (std::vector<std::uint8_t>{0x81, 0x7F}));
  EXPECT_EQ(wide.read().front(), -1.25e-300);
  EXPECT_EQ(halves.read().front(), 0xFEDC);
  EXPECT_EQ(integers.read().front(), d);
}

TEST_P(ScalarArgumentTest, SixteenBitFloats) {
  const Kernels kernels =
      load({echo("echo_f16", ScalarType::F16), echo("echo_bf16", ScalarType::BF16)});
  const std::vector<std::uint16_t> patterns = {0x0000, 0x3C00, 0xBC01, 0x7BFF, 0x0001, 0xFC00};
  for (const std::uint16_t bits : patterns) {
    EXPECT_EQ(round_trip(kernels, 0, bits), bits);
    EXPECT_EQ(round_trip(kernels, 1, bits), bits);
  }
}

/// All 2^16 values to float and back, every other one plus 1.5 and the rest times 1.5, against the
/// format's own conversions. One operation each, since CUDA may round two of them once.
TEST_P(ScalarArgumentTest, SixteenBitFloatsConvertAndCompute) {
  const Kernels kernels =
      load({{"halves",
             {output("same", ScalarType::F16), output("wide", ScalarType::F32),
              output("computed", ScalarType::F16)},
             "int i = blockIdx.x * 256 + threadIdx.x;\n"
             "__half h = __ushort_as_half((unsigned short)i);\n"
             "wide[i] = __half2float(h); same[i] = __float2half(wide[i]);\n"
             "__half c = __float2half(1.5f); computed[i] = i % 2 ? h + c : h * c;"},
            {"bfloats",
             {output("same", ScalarType::BF16), output("wide", ScalarType::F32),
              output("computed", ScalarType::BF16)},
             "int i = blockIdx.x * 256 + threadIdx.x;\n"
             "__nv_bfloat16 h = __ushort_as_bfloat16((unsigned short)i);\n"
             "wide[i] = __bfloat162float(h); same[i] = __float2bfloat16(wide[i]);\n"
             "__nv_bfloat16 c = __float2bfloat16(1.5f); computed[i] = i % 2 ? h + c : h * c;"}});
  using Decode = double (*)(std::uint16_t);
  using Encode = std::uint16_t (*)(double);
  const std::array<Decode, 2> decode = {cgrt::format::from_f16_bits, cgrt::format::from_bf16_bits};
  const std::array<Encode, 2> encode = {cgrt::format::to_f16_bits, cgrt::format::to_bf16_bits};
  for (std::uint32_t kernel = 0; kernel < 2; ++kernel) {
    const auto same = Array<std::uint16_t>::fresh(device(), 65536);
    const auto wide = Array<float>::fresh(device(), 65536);
    const auto computed = Array<std::uint16_t>::fresh(device(), 65536);
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[kernel],
                                   {256, 1, 1},
                                   {256, 1, 1},
                                   0,
                                   {same.slot(), wide.slot(), computed.slot()}});
    run_once(*graph);
    const std::vector<std::uint16_t> narrow = same.read();
    const std::vector<float> wider = wide.read();
    const std::vector<std::uint16_t> results = computed.read();
    for (std::uint32_t bits = 0; bits < 65536; ++bits) {
      const double value = decode[kernel](static_cast<std::uint16_t>(bits));
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(wider[bits]) && std::isnan(decode[kernel](narrow[bits]))) << bits;
        continue;
      }
      EXPECT_EQ(wider[bits], static_cast<float>(value)) << bits;
      EXPECT_EQ(narrow[bits], bits);
      EXPECT_EQ(results[bits], encode[kernel](bits % 2 != 0 ? value + 1.5 : value * 1.5)) << bits;
    }
  }
}

} // namespace conformance
