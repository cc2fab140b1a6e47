// Output files that are whole or not there.
#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/Support/Error.h>

#include <string>
#include <string_view>

namespace cgc {

struct OutputFile {
  std::string path; ///< "-" is standard output
  std::string_view contents;
};

/// Writes each to a temporary file beside its path; once all are written, renames them. On an
/// error, which says why, what could not be written is as it was.
llvm::Error write_outputs(llvm::ArrayRef<OutputFile> files);

} // namespace cgc
