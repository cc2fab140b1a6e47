#include "emit/temporary_file.h"

#include <csignal>

namespace cgc {

namespace {

class SignalsWait {
public:
  SignalsWait() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &earlier_);
  }
  SignalsWait(const SignalsWait &) = delete;
  SignalsWait &operator=(const SignalsWait &) = delete;
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &earlier_, nullptr); }

private:
  sigset_t earlier_ = {};
};

} // namespace

llvm::Expected<llvm::sys::fs::TempFile> create_temporary_file(const llvm::Twine &model) {
  const SignalsWait wait;
  return llvm::sys::fs::TempFile::create(model);
}

} // namespace cgc
