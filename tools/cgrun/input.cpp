#include "input.h"

#include "random.h"
#include "scalar_text.h"
#include "usage.h"

#include "format/scalar_type.h"
#include "format/value.h"

#include <llvm/ADT/StringExtras.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace cgrun {

namespace {

using cgrt::ScalarType;
using cgrt::format::Value;

bool names_file(std::string_view source) {
  return source.ends_with(".npy") || source.find('/') != std::string_view::npos;
}

/// The elements whose low bytes `bits_of(i)` gives.
template <typename BitsOf>
std::vector<std::byte> make_elements(const cgrt::BufferView &view, BitsOf bits_of) {
  const std::size_t element = cgrt::format::size_of(view.type);
  std::vector<std::byte> bytes(view.bytes);
  for (std::size_t i = 0; i < bytes.size() / element; ++i) {
    const std::uint64_t bits = bits_of(i);
    std::memcpy(bytes.data() + i * element, &bits, element);
  }
  return bytes;
}

std::uint64_t float_bits(double value, ScalarType type) {
  return to_scalar_bits(Value::of(value), type).bits;
}

std::uint64_t iota_bits(std::uint64_t i, ScalarType type) {
  if (cgrt::format::is_float(type)) {
    return to_scalar_bits(Value::of(i), type).bits;
  }
  return type == ScalarType::Bool ? i & 1U : i;
}

int significand_bits(ScalarType type) {
  switch (type) {
  case ScalarType::F16:
    return 11;
  case ScalarType::BF16:
    return 8;
  case ScalarType::F32:
    return 24;
  default:
    return 53;
  }
}

std::uint64_t random_bits(std::uint64_t random, ScalarType type) {
  if (cgrt::format::is_float(type)) {
    const int bits = significand_bits(type);
    return float_bits(std::ldexp(static_cast<double>(random >> (64 - bits)), -bits), type);
  }
  const std::uint32_t bits = type == ScalarType::Bool ? 1 : 8 * cgrt::format::size_of(type);
  return random >> (64 - bits);
}

} // namespace

Input::Input(const Assignment &assignment) : buffer_(assignment.name), source_(assignment.value) {
  if (!names_file(source_)) {
    return;
  }
  auto file = llvm::MemoryBuffer::getFile(source_, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file) {
    throw usage_error("--in " + buffer_ + ": cannot read " + source_ + ": " +
                      file.getError().message());
  }
  file_ = std::move(*file);
  array_ = parse_npy(
      {reinterpret_cast<const std::byte *>(file_->getBufferStart()), file_->getBufferSize()},
      source_);
}

std::vector<std::byte> Input::contents(const cgrt::BufferView &view) const {
  if (array_) {
    return npy_contents(*array_, view.type, view.shape, "--in " + buffer_ + ": " + source_);
  }
  return generated(view);
}

std::vector<std::byte> Input::generated(const cgrt::BufferView &view) const {
  if (source_ == "iota") {
    return make_elements(view, [&](std::uint64_t i) { return iota_bits(i, view.type); });
  }
  if (source_ == "random" || source_.starts_with("random:")) {
    const std::string seed_text = source_ == "random" ? "0" : source_.substr(7);
    std::uint64_t seed = 0;
    if (!llvm::to_integer(seed_text, seed, 10)) {
      throw usage_error("--in " + buffer_ + ": '" + seed_text +
                        "' is not a seed, a number from 0 to 2^64-1");
    }
    SplitMix64 generator(seed);
    return make_elements(view,
                         [&](std::size_t) { return random_bits(generator.next(), view.type); });
  }
  const std::string value = source_ == "zeros" ? "0" : source_ == "ones" ? "1" : source_;
  const cgrt::Scalar scalar = parse_scalar(view.type, value, "--in " + buffer_);
  const std::uint64_t bits = to_scalar_bits(Value::from_scalar(scalar), view.type).bits;
  return make_elements(view, [bits](std::size_t) { return bits; });
}

} // namespace cgrun
