#include "npy.h"

#include "usage.h"

#include "format/scalar_type.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

namespace cgrun {

namespace {

using cgrt::ScalarType;

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_rank = 64; // NumPy's own limit

constexpr std::array<std::string_view, cgrt::format::scalar_type_count> descrs = {
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<u2", "<f4", "<f8"};

/// Reads the header's text, a Python dictionary literal with the keys 'descr', 'fortran_order' and
/// 'shape', each once and in any order.
class HeaderParser {
public:
  HeaderParser(std::string_view text, const std::string &name) : text_(text), name_(name) {}

  NpyView parse() {
    NpyView view;
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr" && !has_descr) {
        has_descr = true;
        view.descr = descr();
      } else if (key == "fortran_order" && !has_order) {
        has_order = true;
        view.fortran_order = boolean();
      } else if (key == "shape" && !has_shape) {
        has_shape = true;
        view.shape = shape();
      } else {
        fail("its header has an unexpected or repeated key '" + key + "'");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    if (!text_.empty()) {
      fail("its header goes on after the closing brace");
    }
    if (!has_descr || !has_order || !has_shape) {
      fail("its header lacks 'descr', 'fortran_order' or 'shape'");
    }
    return view;
  }

private:
  [[noreturn]] void fail(const std::string &reason) const {
    throw usage_error(name_ + ": not a .npy file that can be read: " + reason);
  }

  void skip_space() {
    const std::size_t end = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(end == std::string_view::npos ? text_.size() : end);
  }

  bool accept(char c) {
    skip_space();
    if (!text_.starts_with(c)) {
      return false;
    }
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) {
    if (!accept(c)) {
      fail(std::string("its header lacks a '") + c + "'");
    }
  }

  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.starts_with(word)) {
      return false;
    }
    text_.remove_prefix(word.size());
    return true;
  }

  std::string string() {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') {
      fail("its header has no string where one is due");
    }
    const std::size_t end = text_.find(quote, 1);
    if (end == std::string_view::npos) {
      fail("its header ends inside a string");
    }
    std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  std::string descr() {
    skip_space();
    if (text_.starts_with('[') || text_.starts_with('(')) {
      fail("it holds a structured type");
    }
    return string();
  }

  bool boolean() {
    if (accept_word("True")) {
      return true;
    }
    if (!accept_word("False")) {
      fail("'fortran_order' is neither True nor False");
    }
    return false;
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> extents;
    expect('(');
    while (!accept(')')) {
      extents.push_back(extent());
      if (extents.size() > max_rank) {
        fail("it has more than " + std::to_string(max_rank) + " dimensions");
      }
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return extents;
  }

  std::size_t extent() {
    skip_space();
    std::size_t value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc{}) {
      fail("its shape holds something other than sizes from 0 to 2^64-1");
    }
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    accept('L'); // as Python 2 wrote it
    return value;
  }

  std::string_view text_;
  const std::string &name_;
};

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = (value << 8) | std::to_integer<std::uint32_t>(bytes[i]);
  }
  return value;
}

/// As Python prints it: "(512, 512)".
std::string shape_text(std::span<const std::size_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool holds(std::string_view descr, ScalarType type) {
  if (descr == npy_descr(type)) {
    return true;
  }
  if (type == ScalarType::BF16) {
    return descr == "<V2" || descr == "|V2";
  }
  // A single byte has no order, whatever the mark before it says.
  return cgrt::format::size_of(type) == 1 && descr.size() == 3 && descr[0] != '>' &&
         descr.substr(1) == npy_descr(type).substr(1);
}

/// The size of an array, or nothing where it is beyond what can be addressed.
std::optional<std::size_t> byte_count(std::span<const std::size_t> shape, std::size_t element) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) {
    return 0;
  }
  std::size_t bytes = element;
  for (const std::size_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return std::nullopt;
    }
  }
  return bytes;
}

/// Reorders an array whose first index runs fastest into one whose last does.
std::vector<std::byte> to_row_major(std::span<const std::byte> data,
                                    std::span<const std::size_t> shape, std::size_t element) {
  std::vector<std::byte> result(data.size());
  std::vector<std::size_t> index(shape.size(), 0);
  for (std::size_t from = 0; from < data.size(); from += element) {
    std::size_t to = 0;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      to = to * shape[axis] + index[axis];
    }
    std::memcpy(result.data() + to * element, data.data() + from, element);
    for (std::size_t axis = 0; axis < shape.size() && ++index[axis] == shape[axis]; ++axis) {
      index[axis] = 0;
    }
  }
  return result;
}

} // namespace

std::string_view npy_descr(ScalarType type) {
  return descrs[static_cast<std::size_t>(type)];
}

NpyView parse_npy(std::span<const std::byte> file, const std::string &name) {
  const auto fail = [&name](const std::string &reason) {
    return usage_error(name + ": not a .npy file that can be read: " + reason);
  };
  if (file.size() < magic.size() + 4 || std::memcmp(file.data(), magic.data(), magic.size()) != 0) {
    throw fail("it does not begin with NumPy's magic bytes");
  }
  const auto major = std::to_integer<unsigned>(file[6]);
  const auto minor = std::to_integer<unsigned>(file[7]);
  if ((major != 1 && major != 2) || minor != 0) {
    throw fail("its format version is " + std::to_string(major) + "." + std::to_string(minor) +
               "; 1.0 and 2.0 are known");
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t header_at = 8 + length_bytes;
  if (file.size() < header_at) {
    throw fail("it ends inside its header");
  }
  const std::size_t header_bytes = little_endian(file.subspan(8, length_bytes));
  if (header_bytes > file.size() - header_at) {
    throw fail("it ends inside its header");
  }
  const std::string_view header(reinterpret_cast<const char *>(file.data()) + header_at,
                                header_bytes);
  NpyView view = HeaderParser(header, name).parse();
  view.data = file.subspan(header_at + header_bytes);
  return view;
}

std::vector<std::byte> npy_contents(const NpyView &array, ScalarType type,
                                    std::span<const std::size_t> shape, const std::string &name) {
  if (array.descr.starts_with('>') && cgrt::format::size_of(type) > 1) {
    throw usage_error(name + ": holds big-endian '" + array.descr + "'; save it with .astype('" +
                      std::string(npy_descr(type)) + "')");
  }
  if (!holds(array.descr, type) || !std::ranges::equal(array.shape, shape)) {
    throw usage_error(name + ": holds '" + array.descr + "' of shape " + shape_text(array.shape) +
                      "; wanted is '" + std::string(npy_descr(type)) + "' of shape " +
                      shape_text(shape));
  }
  const std::size_t element = cgrt::format::size_of(type);
  const std::optional<std::size_t> bytes = byte_count(shape, element);
  if (!bytes || array.data.size() != *bytes) {
    throw usage_error(name + ": holds " + std::to_string(array.data.size()) +
                      " bytes of data; its shape " + shape_text(array.shape) + " takes " +
                      (bytes ? std::to_string(*bytes) : "more than can be addressed"));
  }
  if (type == ScalarType::Bool &&
      std::ranges::any_of(array.data, [](std::byte value) { return value > std::byte{1}; })) {
    throw usage_error(name + ": holds a bool that is neither 0 nor 1");
  }
  if (array.fortran_order && shape.size() > 1) {
    return to_row_major(array.data, shape, element);
  }
  return {array.data.begin(), array.data.end()};
}

std::string npy_header(ScalarType type, std::span<const std::size_t> shape) {
  std::string text = "{'descr': '" + std::string(npy_descr(type)) +
                     "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  constexpr std::size_t alignment = 64;
  const std::size_t unpadded = magic.size() + 4 + text.size() + 1;
  text.append((alignment - unpadded % alignment) % alignment, ' ');
  text += '\n';
  std::string header(magic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

} // namespace cgrun
