#include "passes/pass.h"

#include "passes/order.h"

#include <array>

namespace cgc {

std::span<const Pass> passes() {
  static constexpr auto list = std::to_array<Pass>({
      {"order", "edges from conflicting accesses and `after`, transitively reduced", order_by_data},
  });
  return list;
}

} // namespace cgc
