#include "errors.h"

#include <llvm/Support/raw_ostream.h>

namespace cgrun {

int status_of(cgrt::ErrorCode code) {
  switch (code) {
  case cgrt::ErrorCode::InvalidProgram:
  case cgrt::ErrorCode::InvalidValue:
    return 1;
  case cgrt::ErrorCode::Usage:
    return 2;
  case cgrt::ErrorCode::Device:
  case cgrt::ErrorCode::Stopped:
  case cgrt::ErrorCode::Callback:
    return machine_status;
  }
  return machine_status;
}

void print_error(const cgrt::SourceLocation &where, const std::string &message) {
  if (where.line == 0) {
    llvm::errs() << "cgrun";
  } else {
    llvm::errs() << where.file << ":" << where.line << ":" << where.column;
  }
  llvm::errs() << ": error: " << message << "\n";
}

void print_error(const cgrt::Error &error) {
  print_error(error.where(), error.message());
}

} // namespace cgrun
