// cgrun: runs the graphs of one program.
#include "options.h"
#include "run.h"

#include <cgrt/types.h>

#include <llvm/Support/Signals.h>
#include <llvm/Support/raw_ostream.h>

#include <exception>
#include <new>
#include <string>

#include <unistd.h>

namespace {

constexpr int interrupted_status = 130;
constexpr int machine_status = 3;

int status_of(cgrt::ErrorCode code) {
  switch (code) {
  case cgrt::ErrorCode::InvalidProgram:
  case cgrt::ErrorCode::InvalidValue:
    return 1;
  case cgrt::ErrorCode::Usage:
    return 2;
  case cgrt::ErrorCode::Device:
    return machine_status;
  }
  return machine_status;
}

void print_error(const cgrt::Error &error) {
  const cgrt::SourceLocation &where = error.where();
  if (where.line == 0) {
    llvm::errs() << "cgrun";
  } else {
    llvm::errs() << where.file << ":" << where.line << ":" << where.column;
  }
  llvm::errs() << ": error: " << error.message() << "\n";
}

} // namespace

int main(int argc, char **argv) {
  // Temporary files are removed before this is called.
  llvm::sys::SetInterruptFunction([] { _exit(interrupted_status); });
  try {
    return cgrun::run(cgrun::parse_options(argc, argv));
  } catch (const cgrt::Error &error) {
    print_error(error);
    return status_of(error.code());
  } catch (const std::bad_alloc &) {
    llvm::errs() << "cgrun: error: not enough memory\n";
  } catch (const std::exception &error) {
    llvm::errs() << "cgrun: error: " << error.what() << "\n";
  }
  return machine_status;
}
