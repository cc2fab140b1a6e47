// NVRTC, NVIDIA's run-time compiler, loaded with dlopen: cgc builds and runs without a CUDA
// Toolkit. The types are NVRTC's C interface, which is the same from CUDA 12 on.
#pragma once

#include <llvm/Support/Error.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cgc {

/// A loaded NVRTC. Const members may be called from several threads.
class Nvrtc {
public:
  /// Looks for libnvrtc.so.13, .12 and libnvrtc.so where the loader does, then in $CUDA_HOME/lib64,
  /// $CUDA_PATH/lib64 and /usr/local/cuda/lib64. The error says that none was found, or what is
  /// wrong with the one that was.
  static llvm::Expected<Nvrtc> load();

  /// "13.0"
  std::string version() const;
  /// The compute capabilities it compiles for, ascending: 75, 80, …
  std::vector<int> architectures() const;
  /// The include folders of the CUDA Toolkit it belongs to; empty where it stands alone.
  std::vector<std::string> include_folders() const;

  struct Output {
    bool ok = false;
    std::string log; ///< errors, where not ok
    std::vector<std::byte> cubin;
    std::vector<std::byte> ptx;       ///< without a NUL at its end
    std::vector<std::string> symbols; ///< of the given kernels, as the images have them
  };
  /// Compiles one program for one `sm_` architecture given in the options. `kernels` are C++
  /// expressions for the addresses of kernels whose symbols are wanted. What is wrong with the
  /// program is in the output; the error is for NVRTC itself failing.
  llvm::Expected<Output> compile(const std::string &source, const std::vector<std::string> &options,
                                 const std::vector<std::string> &kernels) const;

private:
  struct Program;
  struct Api {
    const char *(*error_string)(int result);
    int (*version)(int *major, int *minor);
    int (*architecture_count)(int *count);
    int (*architectures)(int *architectures);
    int (*create)(Program **program, const char *source, const char *name, int header_count,
                  const char *const *headers, const char *const *include_names);
    int (*destroy)(Program **program);
    int (*add_name)(Program *program, const char *expression);
    int (*lowered_name)(Program *program, const char *expression, const char **symbol);
    int (*compile)(Program *program, int option_count, const char *const *options);
    int (*log_size)(Program *program, std::size_t *size);
    int (*log)(Program *program, char *log);
    int (*cubin_size)(Program *program, std::size_t *size);
    int (*cubin)(Program *program, char *cubin);
    int (*ptx_size)(Program *program, std::size_t *size);
    int (*ptx)(Program *program, char *ptx);
  };
  struct CloseLibrary {
    void operator()(void *library) const;
  };
  using Library = std::unique_ptr<void, CloseLibrary>;
  using SizeFunction = int (*)(Program *, std::size_t *);
  using ReadFunction = int (*)(Program *, char *);

  Nvrtc() = default;
  static Library open_library();
  /// The name of a function that the library lacks, or nothing.
  const char *find_functions();
  llvm::Error check(int result, const char *call) const;
  llvm::Expected<std::string> read(Program *program, SizeFunction get_size, ReadFunction get) const;
  llvm::Error read_output(Program *program, int compile_result, Output &output) const;
  llvm::Error read_symbols(Program *program, const std::vector<std::string> &kernels,
                           Output &output) const;

  Library library_;
  Api api_{};
};

} // namespace cgc
