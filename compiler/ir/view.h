// A buffer or a slice of one while statements are lowered.
#pragma once

#include "ir/polynomial.h"

#include "format/program.h"

#include <vector>

namespace cgc {

struct View {
  cgrt::format::Region region;
  std::vector<std::size_t> kept; ///< the buffer's dimensions that the view has, ascending

  /// Its extents; none where every dimension has been dropped.
  std::vector<cgrt::format::ExprId> shape() const;
};

View whole_view(cgrt::format::Program &program, cgrt::format::BufferId buffer);

/// The number of elements.
cgrt::format::ExprId element_count(cgrt::format::Program &program, const View &view);

/// One step along memory: `count` elements, `stride` elements apart.
struct StridedDimension {
  cgrt::format::ExprId count;
  cgrt::format::ExprId stride;
};

/// The fewest dimensions in which the region's elements lie at even distances, outermost first, as
/// far as that shows; those of extent 1 are left out.
std::vector<StridedDimension> strided_dimensions(cgrt::format::Program &program,
                                                 Polynomials &polynomials,
                                                 const cgrt::format::Region &region);

enum class Contiguity : std::uint8_t { No, Maybe, Yes };

/// Whether the region's elements lie side by side; Maybe where that depends on parameters.
Contiguity contiguity(cgrt::format::Program &program, Polynomials &polynomials,
                      const cgrt::format::Region &region);

} // namespace cgc
