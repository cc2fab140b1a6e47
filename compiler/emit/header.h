// A program as a C++ header.
#pragma once

#include "format/program.h"

#include <llvm/ADT/ArrayRef.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace cgc {

/// One header with the bundle in it and typed classes around it: one for an instance of the
/// program, named after `stem`, the file's name without its extension, and one for each of its
/// graphs. It needs the runtime's headers alone. The whole program is finished: its bundle are
/// these bytes.
std::string emit_header(const cgrt::format::Program &program, llvm::ArrayRef<std::byte> bundle,
                        std::string_view stem);

} // namespace cgc
