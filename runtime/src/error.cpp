#include <cgrt/types.h>

namespace cgrt {

namespace {

std::string with_place(const std::string &message, const SourceLocation &where) {
  if (where.line == 0) {
    return message;
  }
  return where.file + ":" + std::to_string(where.line) + ": " + message;
}

} // namespace

Error::Error(ErrorCode code, const std::string &message, SourceLocation where)
    : std::runtime_error(with_place(message, where)), code_(code), message_(message),
      where_(std::move(where)) {}

Error::~Error() = default;

} // namespace cgrt
