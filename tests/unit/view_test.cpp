#include "ir/view.h"

#include "unit/expr_fixture.h"

namespace cgc {
namespace {

using cgrt::format::ExprId;
using cgrt::format::ExprOp;
using cgrt::format::Region;

class ViewTest : public testing::ExprFixture {
public:
  void SetUp() override {
    cgrt::format::Buffer buffer;
    buffer.shape = {number(4), number(6), n};
    program.buffers.push_back(buffer);
    buffer.shape = {number(4), number(6), number(8)};
    program.buffers.push_back(buffer);
  }

  /// Begins are of no interest here.
  Region region(std::uint32_t buffer, const std::vector<ExprId> &counts) {
    Region result;
    result.buffer = {buffer};
    for (const ExprId count : counts) {
      result.ranges.push_back({number(0), count});
    }
    return result;
  }
  /// "6x48 1x8": counts and strides; only of constants.
  std::string strides(const Region &region) {
    std::string text;
    for (const StridedDimension &dimension : strided_dimensions(program, polynomials, region)) {
      text += (text.empty() ? "" : " ") + program.exprs.known(dimension.count)->value.text() + "x" +
              program.exprs.known(dimension.stride)->value.text();
    }
    return text;
  }
};

TEST_F(ViewTest, OfAWholeBufferHasItsShape) {
  const View view = whole_view(program, {0});
  EXPECT_EQ(view.shape(), program.buffers[0].shape);
  EXPECT_TRUE(polynomials.equal(element_count(program, view),
                                program.exprs.binary(ExprOp::Mul, number(24), n)));
  EXPECT_EQ(contiguity(program, polynomials, view.region), Contiguity::Yes);
}

TEST_F(ViewTest, DropsDimensions) {
  View view = whole_view(program, {1});
  view.kept = {2};
  view.region.ranges[0].count = view.region.ranges[1].count = number(1);
  EXPECT_EQ(view.shape(), std::vector{number(8)});
  view.kept.clear();
  view.region.ranges[2].count = number(1);
  EXPECT_TRUE(view.shape().empty());
  EXPECT_EQ(element_count(program, view), number(1));
}

TEST_F(ViewTest, WholeInnerDimensionsJoin) {
  EXPECT_EQ(strides(region(1, {number(4), number(6), number(8)})), "192x1");
  EXPECT_EQ(strides(region(1, {number(2), number(6), number(8)})), "96x1");
  EXPECT_EQ(strides(region(1, {number(2), number(3), number(8)})), "2x48 24x1");
  EXPECT_EQ(strides(region(1, {number(4), number(6), number(3)})), "24x8 3x1");
  EXPECT_EQ(strides(region(1, {number(4), number(2), number(3)})), "4x48 2x8 3x1");
  EXPECT_EQ(strides(region(1, {number(4), number(1), number(8)})), "4x48 8x1");
  EXPECT_EQ(strides(region(1, {number(4), number(6), number(1)})), "24x8");
  EXPECT_EQ(strides(region(1, {number(1), number(1), number(1)})), "");
}

TEST_F(ViewTest, ContiguityIsKnownOrLeftOpen) {
  const auto of = [&](const Region &it) { return contiguity(program, polynomials, it); };
  EXPECT_EQ(of(region(1, {number(1), number(1), number(5)})), Contiguity::Yes);
  EXPECT_EQ(of(region(1, {number(2), number(1), number(8)})), Contiguity::No);
  EXPECT_EQ(of(region(1, {number(2), number(0), number(8)})), Contiguity::Yes); // empty
  EXPECT_EQ(of(region(0, {number(3), number(6), n})), Contiguity::Yes);
  EXPECT_EQ(of(region(0, {number(3), number(5), n})), Contiguity::Maybe); // n may be 0
  EXPECT_EQ(of(region(1, {n, number(6), number(8)})), Contiguity::Yes);
  EXPECT_EQ(of(region(1, {n, number(3), number(8)})), Contiguity::Maybe);
}

} // namespace
} // namespace cgc
