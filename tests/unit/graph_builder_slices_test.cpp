// Boxes of buffers in copies, fills and kernel arguments.
#include "graph_builder.h"

#include "unit/recording_graph.h"

#include <gmock/gmock.h>

#include <bit>
#include <limits>

namespace cgrt {
namespace {

using format::ExprId;
using format::Mode;
using format::Range;
using format::Region;
using format::Value;
using ::testing::ElementsAre;
using testing::FakeCode;
using ::testing::HasSubstr;
using testing::Recorded;
using testing::RecordingGraph;

using Numbers = std::vector<std::int64_t>;

/// A box as a test writes it: begin and count in each dimension.
using BoxText = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Device buffers "b0", "b1", … at made-up addresses, a mebibyte apart times the index plus one.
class GraphBuilderSlicesTest : public ::testing::Test {
protected:
  std::uint32_t buffer(const Numbers &extents, ScalarType type = ScalarType::F32) {
    const auto index = static_cast<std::uint32_t>(placed_.size());
    format::Buffer declared;
    declared.name = "b" + std::to_string(index);
    declared.type = type;
    for (const std::int64_t extent : extents) {
      declared.shape.push_back(number(extent));
    }
    program_.buffers.push_back(std::move(declared));
    placed_.push_back({address(index), extents});
    return index;
  }

  ExprId number(std::int64_t value) { return program_.exprs.constant(Value::of(value)); }

  Region box(std::uint32_t buffer, const BoxText &ranges) {
    Region region{{buffer}, {}};
    for (const auto &[begin, count] : ranges) {
      region.ranges.push_back({number(begin), number(count)});
    }
    return region;
  }

  /// One node alone.
  Recorded resolve(format::Work work) {
    format::Graph graph;
    graph.name = "main";
    graph.nodes.push_back({std::move(work), {}, {}});
    program_.graphs = {std::move(graph)};
    EXPECT_THAT(verify(program_), ElementsAre());
    const Parameters parameters(program_, {});
    const auto built =
        GraphBuilder(program_, parameters, placed_, code_, testing::no_bindings, address(99))
            .build({0}, [] { return std::make_unique<RecordingGraph>(); });
    return static_cast<const RecordingGraph &>(*built.owned.back()).nodes.at(0);
  }

  CopyParams copy(const Region &destination, const Region &source) {
    const Recorded node = resolve(format::CopyWork{destination, source});
    EXPECT_TRUE(node.enabled);
    return std::get<CopyParams>(node.params);
  }

  FillParams fill(const Region &destination) {
    const Recorded node = resolve(format::FillWork{destination, number(7)});
    EXPECT_TRUE(node.enabled);
    return std::get<FillParams>(node.params);
  }

  std::string error(format::Work work) {
    try {
      resolve(std::move(work));
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::InvalidValue);
      return error.what();
    }
    return "no error";
  }

  /// A launch of a kernel of two f32 buffers, the second one written.
  format::Work launch(const Region &first, const Region &second, bool inplace = false,
                      bool strided = false) {
    format::Kernel kernel;
    kernel.name = "k";
    kernel.symbol = "k";
    kernel.params = {{"a", ScalarType::F32, true, Mode::In},
                     {"b", ScalarType::F32, true, Mode::InOut}};
    kernel.inplace = inplace;
    kernel.strided = strided;
    program_.kernels = {std::move(kernel)};
    const ExprId one = number(1);
    const ExprId none = number(0);
    return format::KernelWork{{0},  {one, one, one}, {one, one, one}, none, {one, one, one}, none,
                              none, {first, second}};
  }

  static std::byte *address(std::size_t buffer, std::size_t offset = 0) {
    return std::bit_cast<std::byte *>((buffer + 1) * 0x100000 + offset);
  }

  format::Program program_;
  std::vector<PlacedBuffer> placed_;
  FakeCode code_;
};

TEST_F(GraphBuilderSlicesTest, ARowIsAFlatCopy) {
  const auto x = buffer({6, 10});
  const auto y = buffer({10});
  const CopyParams params = copy(box(x, {{3, 1}, {2, 5}}), box(y, {{1, 5}}));
  EXPECT_EQ(params.destination, address(x, 4 * 32));
  EXPECT_EQ(params.source, address(y, 4 * 1));
  EXPECT_EQ(params.width, 20U);
  EXPECT_EQ(params.height, 1U);
  EXPECT_EQ(params.depth, 1U);
}

TEST_F(GraphBuilderSlicesTest, WholeBuffersAreFlatWhateverTheirRank) {
  const auto x = buffer({2, 3, 4, 5, 2, 2, 2, 2});
  const auto y = buffer({2, 3, 4, 5, 2, 2, 2, 2});
  const BoxText all = {{0, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 2}, {0, 2}, {0, 2}, {0, 2}};
  const CopyParams params = copy(box(x, all), box(y, all));
  EXPECT_EQ(params.width, 4U * 1920);
  EXPECT_EQ(params.height, 1U);
}

TEST_F(GraphBuilderSlicesTest, ATileHasRowsWithPitchesOfBothSides) {
  const auto x = buffer({6, 10}, ScalarType::F64);
  const auto y = buffer({8, 7}, ScalarType::F64);
  const CopyParams params = copy(box(x, {{1, 4}, {2, 3}}), box(y, {{3, 4}, {4, 3}}));
  EXPECT_EQ(params.destination, address(x, 8 * 12));
  EXPECT_EQ(params.source, address(y, 8 * 25));
  EXPECT_EQ(params.width, 24U);
  EXPECT_EQ(params.height, 4U);
  EXPECT_EQ(params.depth, 1U);
  EXPECT_EQ(params.destination_rows.pitch, 80U);
  EXPECT_EQ(params.source_rows.pitch, 56U);
}

// The example: a 1×3×3 block at (3, 1, 0) of a 4×4×4 cube.
TEST_F(GraphBuilderSlicesTest, ABlockOfACubeThatIsOneThickIsTwoDimensional) {
  const auto cube = buffer({4, 4, 4});
  const auto block = buffer({1, 3, 3});
  const CopyParams params =
      copy(box(block, {{0, 1}, {0, 3}, {0, 3}}), box(cube, {{3, 1}, {1, 3}, {0, 3}}));
  EXPECT_EQ(params.source, address(cube, 4 * (3 * 16 + 1 * 4)));
  EXPECT_EQ(params.width, 12U);
  EXPECT_EQ(params.height, 3U);
  EXPECT_EQ(params.depth, 1U);
  EXPECT_EQ(params.source_rows.pitch, 16U);
  EXPECT_EQ(params.destination_rows.pitch, 12U);
}

TEST_F(GraphBuilderSlicesTest, ABrickHasPlanes) {
  const auto x = buffer({5, 6, 7}, ScalarType::U16);
  const auto y = buffer({2, 3, 4}, ScalarType::U16);
  const CopyParams params =
      copy(box(y, {{0, 2}, {0, 3}, {0, 4}}), box(x, {{1, 2}, {2, 3}, {3, 4}}));
  EXPECT_EQ(params.source, address(x, 2 * (42 + 14 + 3)));
  EXPECT_EQ(params.width, 8U);
  EXPECT_EQ(params.height, 3U);
  EXPECT_EQ(params.depth, 2U);
  EXPECT_EQ(params.source_rows.pitch, 14U);
  EXPECT_EQ(params.source_rows.per_plane, 6U);
  EXPECT_EQ(params.destination_rows.pitch, 8U);
  EXPECT_EQ(params.destination_rows.per_plane, 3U);
}

TEST_F(GraphBuilderSlicesTest, AColumnHasRowsOfOneElement) {
  const auto x = buffer({6, 10});
  const auto y = buffer({6});
  const CopyParams params = copy(box(y, {{0, 6}}), box(x, {{0, 6}, {9, 1}}));
  EXPECT_EQ(params.source, address(x, 36));
  EXPECT_EQ(params.width, 4U);
  EXPECT_EQ(params.height, 6U);
  EXPECT_EQ(params.destination_rows.pitch, 4U);
  EXPECT_EQ(params.source_rows.pitch, 40U);
}

TEST_F(GraphBuilderSlicesTest, DimensionsJoinWhereBothSidesAllowIt) {
  const auto x = buffer({4, 5, 6, 7});
  const auto y = buffer({4, 3, 6, 7});
  const CopyParams params =
      copy(box(x, {{0, 4}, {1, 3}, {0, 6}, {0, 7}}), box(y, {{0, 4}, {0, 3}, {0, 6}, {0, 7}}));
  EXPECT_EQ(params.width, 4U * 3 * 42);
  EXPECT_EQ(params.height, 4U);
  EXPECT_EQ(params.destination_rows.pitch, 4U * 5 * 42);
  EXPECT_EQ(params.source_rows.pitch, 4U * 3 * 42);
}

TEST_F(GraphBuilderSlicesTest, MoreThanThreeStridedDimensionsAreRefused) {
  const auto x = buffer({3, 3, 3, 3});
  const auto y = buffer({2, 2, 2, 2});
  const BoxText corner = {{0, 2}, {0, 2}, {0, 2}, {0, 2}};
  EXPECT_EQ(error(format::CopyWork{box(y, corner), box(x, corner)}),
            "copy b1 <- b0[0:2, 0:2, 0:2, 0:2]: its elements lie in 4 strided dimensions; CUDA "
            "copies at most three [shape]");
}

TEST_F(GraphBuilderSlicesTest, EachRangeMustLieInItsDimension) {
  const auto x = buffer({4, 6});
  const auto y = buffer({4, 6});
  const Region all = box(y, {{0, 4}, {0, 6}});
  // The elements would lie within the buffer, but not within the row.
  EXPECT_EQ(error(format::CopyWork{all, box(x, {{0, 4}, {1, 6}})}),
            "copy b1 <- b0[0:4, 1:7]: dimension 1 of b0: 6 elements from 1 on are not within its 6 "
            "[range]");
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const BoxText &ranges : std::initializer_list<BoxText>{{{-1, 1}, {0, 6}},
                                                              {{0, -1}, {0, 6}},
                                                              {{5, 0}, {0, 6}},
                                                              {{4, 1}, {0, 6}},
                                                              {{most, most}, {0, 6}},
                                                              {{0, 4}, {1, most}}}) {
    EXPECT_THAT(error(format::FillWork{box(x, ranges), number(0)}), HasSubstr("[range]"));
  }
}

TEST_F(GraphBuilderSlicesTest, ExtentsOfOneDoNotCount) {
  const auto x = buffer({3, 4});
  const auto y = buffer({4, 3});
  EXPECT_EQ(error(format::CopyWork{box(x, {{0, 1}, {0, 3}}), box(y, {{1, 3}, {2, 1}})}),
            "no error");
  EXPECT_EQ(error(format::CopyWork{box(x, {{0, 3}, {0, 4}}), box(y, {{0, 4}, {0, 3}})}),
            "copy b0 <- b1: the destination's extents are [3, 4], the source's [4, 3] [shape]");
  EXPECT_THAT(error(format::CopyWork{box(x, {{0, 1}, {0, 1}}), box(y, {{1, 3}, {2, 1}})}),
              HasSubstr("[shape]"));
}

TEST_F(GraphBuilderSlicesTest, EmptyBoxesDoNothing) {
  const auto x = buffer({4, 6});
  const auto y = buffer({0, std::int64_t{1} << 40, std::int64_t{1} << 40});
  EXPECT_FALSE(
      resolve(format::CopyWork{box(x, {{0, 4}, {6, 0}}), box(x, {{0, 4}, {3, 0}})}).enabled);
  EXPECT_FALSE(resolve(format::FillWork{box(x, {{4, 0}, {0, 6}}), number(1)}).enabled);
  const std::int64_t end = std::int64_t{1} << 40;
  EXPECT_FALSE(resolve(format::FillWork{box(y, {{0, 0}, {end, 0}, {end, 0}}), number(1)}).enabled);
  const Recorded node =
      resolve(launch(box(y, {{0, 0}, {end, 0}, {0, end}}), box(x, {{4, 0}, {0, 6}})));
  EXPECT_TRUE(node.enabled) << "a launch does what its grid says";
}

TEST_F(GraphBuilderSlicesTest, OverlapIsJudgedByBoxes) {
  const auto x = buffer({8, 8});
  const auto overlap = [&](const BoxText &to, const BoxText &from) {
    return error(format::CopyWork{box(x, to), box(x, from)});
  };
  EXPECT_EQ(overlap({{0, 4}, {0, 4}}, {{4, 4}, {0, 4}}), "no error");
  EXPECT_EQ(overlap({{0, 4}, {0, 4}}, {{0, 4}, {4, 4}}), "no error") << "interleaved in memory";
  EXPECT_EQ(overlap({{0, 4}, {0, 4}}, {{3, 4}, {4, 4}}), "no error");
  EXPECT_EQ(overlap({{0, 4}, {0, 4}}, {{3, 4}, {3, 4}}),
            "copy b0[0:4, 0:4] <- b0[3:7, 3:7]: the source and the destination overlap [alias]");
  EXPECT_THAT(overlap({{0, 8}, {2, 1}}, {{0, 8}, {2, 1}}), HasSubstr("[alias]"));
}

TEST_F(GraphBuilderSlicesTest, FillsHaveRows) {
  const auto x = buffer({6, 10}, ScalarType::U16);
  const FillParams tile = fill(box(x, {{1, 4}, {2, 3}}));
  EXPECT_EQ(tile.destination, address(x, 2 * 12));
  EXPECT_EQ(tile.width, 3U);
  EXPECT_EQ(tile.height, 4U);
  EXPECT_EQ(tile.pitch, 20U);
  const FillParams rows = fill(box(x, {{1, 4}, {0, 10}}));
  EXPECT_EQ(rows.width, 40U);
  EXPECT_EQ(rows.height, 1U);
  const FillParams column = fill(box(x, {{0, 6}, {9, 1}}));
  EXPECT_EQ(column.width, 1U);
  EXPECT_EQ(column.height, 6U);
  EXPECT_EQ(column.pitch, 20U);
}

TEST_F(GraphBuilderSlicesTest, FillsOfMoreThanTwoStridedDimensionsAreRefused) {
  const auto x = buffer({4, 4, 4});
  EXPECT_EQ(error(format::FillWork{box(x, {{0, 2}, {0, 2}, {0, 2}}), number(1)}),
            "fill b0[0:2, 0:2, 0:2]: its elements lie in 3 strided dimensions; CUDA fills at most "
            "two [shape]");
}

TEST_F(GraphBuilderSlicesTest, PitchesHaveALimit) {
  constexpr std::int64_t most = 2147483647;
  const auto x = buffer({4, most}, ScalarType::U8);
  const auto y = buffer({4, most + 1}, ScalarType::U8);
  const auto z = buffer({4, 10}, ScalarType::U8);
  const BoxText rows = {{0, 4}, {0, 10}};
  EXPECT_EQ(copy(box(x, rows), box(z, rows)).destination_rows.pitch, 2147483647U);
  EXPECT_EQ(error(format::CopyWork{box(z, rows), box(y, rows)}),
            "copy b2 <- b1[0:4, 0:10]: from one row to the next there are 2147483648 elements of 1 "
            "bytes; the limit is 2147483647 bytes [shape]");
  EXPECT_THAT(error(format::FillWork{box(y, rows), number(1)}), HasSubstr("2147483647"));
  // One row has no pitch.
  EXPECT_EQ(fill(box(y, {{0, 1}, {0, most + 1}})).width, 2147483648U);
}

TEST_F(GraphBuilderSlicesTest, KernelsTakeContiguousBoxes) {
  const auto x = buffer({6, 10});
  const auto y = buffer({6, 10});
  const Recorded node = resolve(launch(box(x, {{2, 1}, {3, 4}}), box(y, {{2, 3}, {0, 10}})));
  EXPECT_THAT(std::get<KernelParams>(node.params).arguments,
              ElementsAre(reinterpret_cast<std::uintptr_t>(address(x, 4 * 23)),
                          reinterpret_cast<std::uintptr_t>(address(y, 4 * 20))));
  const Region columns = box(x, {{0, 6}, {0, 9}});
  EXPECT_EQ(error(launch(columns, box(y, {{0, 6}, {0, 10}}))),
            "kernel k: argument a of kernel k is not contiguous [shape]");
  const Recorded strided = resolve(launch(columns, box(y, {{1, 2}, {3, 2}}), false, true));
  EXPECT_EQ(std::get<KernelParams>(strided.params).arguments[1],
            reinterpret_cast<std::uintptr_t>(address(y, 4 * 13)));
}

TEST_F(GraphBuilderSlicesTest, ArgumentsOfKernelsThatAreNotInPlaceMayNotOverlap) {
  const auto x = buffer({6, 10});
  const Region first = box(x, {{0, 3}, {0, 10}});
  const Region second = box(x, {{2, 3}, {0, 10}});
  EXPECT_EQ(error(launch(first, second)), "kernel k: arguments a and b overlap in b0 [alias]");
  EXPECT_EQ(error(launch(first, second, true)), "no error");
  EXPECT_EQ(error(launch(first, box(x, {{3, 3}, {0, 10}}))), "no error");
  EXPECT_EQ(error(launch(box(x, {{0, 6}, {0, 5}}), box(x, {{0, 6}, {5, 5}}), false, true)),
            "no error")
      << "the columns interleave in memory but share no element";
}

} // namespace
} // namespace cgrt
