// NumPy's .npy files, format versions 1.0 and 2.0.
//
// Each type of the language is the NumPy type of the same meaning, little-endian: '|b1', '|i1' …
// '<u8', '<f2', '<f4', '<f8'. NumPy has no bf16: its bits are written as '<u2', and read from
// '<u2', '<V2' or '|V2'.
#pragma once

#include <cgrt/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cgrun {

/// A file's header and where its data stands.
struct NpyView {
  std::string descr; ///< "<f4"
  bool fortran_order = false;
  std::vector<std::size_t> shape;
  std::span<const std::byte> data; ///< into the file's bytes
};

/// Trusts nothing: throws Error{Usage} that begins with `name` and says what is wrong. The data's
/// size is checked against the shape by npy_contents(), which knows the element size.
NpyView parse_npy(std::span<const std::byte> file, const std::string &name);

/// The elements in row-major order, where the array is exactly of this type and shape. Throws
/// Error{Usage} that begins with `name` and says what the file holds and what is wanted. Bytes of a
/// bool array other than 0 and 1 are refused.
std::vector<std::byte> npy_contents(const NpyView &array, cgrt::ScalarType type,
                                    std::span<const std::size_t> shape, const std::string &name);

/// The header that stands before a row-major array's bytes; version 1.0, a multiple of 64 bytes.
std::string npy_header(cgrt::ScalarType type, std::span<const std::size_t> shape);

/// "<f4".
std::string_view npy_descr(cgrt::ScalarType type);

} // namespace cgrun
