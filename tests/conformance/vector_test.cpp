// CUDA's vector types: layout, construction, loads, dim3.
#include "device_under_test.h"

#include <gmock/gmock.h>

namespace conformance {

using testing::ElementsAre;

class VectorTest : public KernelsUnderTest {
protected:
  std::vector<std::int32_t> run(const std::string &body, std::size_t count,
                                const std::vector<float> &in = {0}) {
    const Kernels kernels =
        load({{"kernel", {input("in", ScalarType::F32), output("out", ScalarType::I32)}, body}});
    const Array<float> from(device(), in);
    const auto out = Array<std::int32_t>::fresh(device(), count);
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {}, {}, 0, {from.slot(), out.slot()}});
    run_once(*graph);
    return out.read();
  }
};
CONFORMANCE_SUITE(VectorTest);

struct Element {
  const char *name;
  std::int32_t bytes;
};
constexpr std::array<Element, 12> elements = {{{"char", 1},
                                               {"uchar", 1},
                                               {"short", 2},
                                               {"ushort", 2},
                                               {"int", 4},
                                               {"uint", 4},
                                               {"long", 8},
                                               {"ulong", 8},
                                               {"longlong", 8},
                                               {"ulonglong", 8},
                                               {"float", 4},
                                               {"double", 8}}};

TEST_P(VectorTest, SizesAlignmentsAndElements) {
  std::string body = "int at = 0;\n";
  std::vector<std::int32_t> expected;
  const auto add = [&](const std::string &type, const std::string &call, std::int32_t size,
                       std::int32_t alignment, std::int32_t value, const std::string &sum) {
    body += "{ const " + type + " v = " + call + "; out[at++] = sizeof(v); out[at++] = alignof(" +
            type + "); out[at++] = (int)(" + sum + "); }\n";
    expected.insert(expected.end(), {size, alignment, value});
  };
  for (const auto &[name, bytes] : elements) {
    const std::string type = name;
    add(type + "1", "make_" + type + "1(3)", bytes, bytes, 3, "v.x");
    add(type + "2", "make_" + type + "2(3, 4)", 2 * bytes, 2 * bytes, 43, "v.x + 10 * v.y");
    add(type + "3", "make_" + type + "3(1, 2, 1)", 3 * bytes, bytes, 121,
        "v.x + 10 * v.y + 100 * v.z");
    add(type + "4", "make_" + type + "4(1, 2, 3, 4)", 4 * bytes, std::min(4 * bytes, 16), 4321,
        "v.x + 10 * v.y + 100 * v.z + 1000 * v.w");
  }
  for (const std::string type : {"long", "ulong", "longlong", "ulonglong", "double"}) {
    for (const std::int32_t alignment : {16, 32}) {
      const std::string aligned = type + "4_" + std::to_string(alignment) + "a";
      add(aligned, "{1, 2, 3, 4}", 32, alignment, 4321, "v.x + 10 * v.y + 100 * v.z + 1000 * v.w");
    }
  }
  EXPECT_EQ(run(body, expected.size()), expected);
}

TEST_P(VectorTest, LoadsAndStoresOfWholeVectors) {
  EXPECT_THAT(run("const float4 a = reinterpret_cast<const float4 *>(in)[1];\n"
                  "const float4 b = __ldg(reinterpret_cast<const float4 *>(in));\n"
                  "const float2 c = __ldcg(reinterpret_cast<const float2 *>(in) + 1);\n"
                  "reinterpret_cast<int4 *>(out)[0] =\n"
                  "    make_int4((int)a.x, (int)a.w, (int)b.y, (int)b.z);\n"
                  "__stcs(reinterpret_cast<int2 *>(out) + 2, make_int2((int)c.x, (int)c.y));",
                  6, {1, 2, 3, 4, 5, 6, 7, 8}),
              ElementsAre(5, 8, 2, 3, 3, 4));
}

TEST_P(VectorTest, Dim3) {
  EXPECT_THAT(run("dim3 a, b(7), c = make_uint3(1, 2, 3);\n"
                  "const uint3 u = dim3(4, 5);\n"
                  "out[0] = a.x * 100 + a.y * 10 + a.z;\n"
                  "out[1] = b.x * 100 + b.y * 10 + b.z;\n"
                  "out[2] = c.x * 100 + c.y * 10 + c.z;\n"
                  "out[3] = u.x * 100 + u.y * 10 + u.z;\n"
                  "out[4] = gridDim.x + blockDim.y + blockIdx.z + threadIdx.x;",
                  5),
              ElementsAre(111, 711, 123, 451, 2));
}

} // namespace conformance
