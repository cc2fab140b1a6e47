// cgrun: runs the graphs of one program.
#include "errors.h"
#include "options.h"
#include "run.h"

#include <cgrt/types.h>

#include <llvm/Support/Signals.h>
#include <llvm/Support/raw_ostream.h>

#include <exception>
#include <new>
#include <string>

#include <unistd.h>

int main(int argc, char **argv) {
  // Temporary files are removed before this is called.
  llvm::sys::SetInterruptFunction([] { _exit(cgrun::interrupted_status); });
  try {
    return cgrun::run(cgrun::parse_options(argc, argv));
  } catch (const cgrt::Error &error) {
    cgrun::print_error(error);
    return cgrun::status_of(error.code());
  } catch (const std::bad_alloc &) {
    llvm::errs() << "cgrun: error: not enough memory\n";
  } catch (const std::exception &error) {
    llvm::errs() << "cgrun: error: " << error.what() << "\n";
  }
  return cgrun::machine_status;
}
