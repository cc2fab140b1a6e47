// Output files that are whole or not there.
#pragma once

#include <llvm/Support/Error.h>

#include <string>
#include <string_view>

namespace cgc {

/// Writes to a temporary file beside `path`, then renames it; "-" writes to standard output. On an
/// error, which says why, `path` is as it was.
llvm::Error write_output(const std::string &path, std::string_view contents);

} // namespace cgc
