// What `--in BUF=SOURCE` puts into a buffer.
#pragma once

#include "npy.h"
#include "options.h"

#include <cgrt/cgrt.h>

#include <llvm/Support/MemoryBuffer.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cgrun {

/// A buffer's contents before its type and shape are known.
///
/// SOURCE is `iota` (0, 1, 2 … in row-major order; rounded to a floating type, wrapped to an
/// integer type), `zeros`, `ones`, `random[:SEED]` (SEED is 0 when left out), a value of the
/// buffer's type, or the name of a file: text that ends in `.npy` or holds a `/`.
///
/// Element i of `random:SEED` comes from output i of splitmix64 started at SEED: its top 53, 24, 11
/// or 8 bits as a fraction in [0, 1) for f64, f32, f16 and bf16, its top bits over the full range
/// for integers and bool.
class Input {
public:
  /// Opens the file, if it is one, and reads its header. Throws Error{Usage}.
  explicit Input(const Assignment &assignment);

  const std::string &buffer() const { return buffer_; }

  /// The bytes for a buffer of this type and shape. Throws Error{Usage} when the source is not for
  /// such a buffer.
  std::vector<std::byte> contents(const cgrt::BufferView &view) const;

private:
  std::vector<std::byte> generated(const cgrt::BufferView &view) const;

  std::string buffer_;
  std::string source_;
  std::unique_ptr<llvm::MemoryBuffer> file_;
  std::optional<NpyView> array_; ///< into file_
};

} // namespace cgrun
