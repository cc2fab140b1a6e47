// Files that a signal does not leave behind.
#pragma once

#include <llvm/ADT/Twine.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/FileSystem.h>

namespace cgc {

/// `llvm::sys::fs::TempFile::create`, whose file a signal ends with the program; one that comes to
/// this thread between the file and that promise waits for both.
llvm::Expected<llvm::sys::fs::TempFile> create_temporary_file(const llvm::Twine &model);

} // namespace cgc
