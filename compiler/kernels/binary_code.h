// Kernels' ready-made machine code.
#pragma once

#include "format/program.h"

#include <llvm/Support/Error.h>

#include <cstddef>
#include <string>
#include <vector>

namespace cgc {

/// What a cubin, PTX text or fatbin is, by its content: an image that holds no kernels yet. The
/// error says what is wrong with it.
llvm::Expected<cgrt::format::Image> identify_binary(const std::vector<std::byte> &bytes);

/// Whether the name occurs in the image, as the symbol of a kernel in it would.
bool mentions_symbol(const cgrt::format::Image &image, const std::string &symbol);

} // namespace cgc
