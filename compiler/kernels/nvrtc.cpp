#include "kernels/nvrtc.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace cgc {

namespace {

constexpr int success = 0;            // NVRTC_SUCCESS
constexpr int compilation_failed = 6; // NVRTC_ERROR_COMPILATION
constexpr int invalid_option = 5;     // NVRTC_ERROR_INVALID_OPTION

/// Values of the variables that name a toolkit's folder, and where it stands by default.
std::vector<std::filesystem::path> toolkit_folders() {
  std::vector<std::filesystem::path> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char *value = std::getenv(variable);
    if (value != nullptr && *value != '\0') {
      folders.emplace_back(value);
    }
  }
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

llvm::Error failure(const std::string &text) {
  return llvm::createStringError(std::make_error_code(std::errc::not_supported), "%s",
                                 text.c_str());
}

template <typename Function> bool find(void *library, const char *name, Function *&function) {
  function = reinterpret_cast<Function *>(dlsym(library, name));
  return function != nullptr;
}

/// NVRTC ends texts in a NUL and counts it.
std::string without_nul(const std::string &text) {
  return text.substr(0, text.find('\0'));
}

std::vector<std::byte> to_bytes(const std::string &text) {
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return {begin, begin + text.size()};
}

} // namespace

void Nvrtc::CloseLibrary::operator()(void *library) const {
  dlclose(library);
}

Nvrtc::Library Nvrtc::open_library() {
  std::vector<std::string> folders{""};
  for (const std::filesystem::path &toolkit : toolkit_folders()) {
    folders.push_back((toolkit / "lib64" / "").string());
  }
  for (const std::string &folder : folders) {
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}) {
      // NODELETE: NVRTC keeps per-thread state whose destructors must not outlive its code.
      if (void *library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {
        return Library(library);
      }
    }
  }
  return nullptr;
}

llvm::Expected<Nvrtc> Nvrtc::load() {
  Nvrtc nvrtc;
  nvrtc.library_ = open_library();
  if (!nvrtc.library_) {
    return failure("NVRTC (libnvrtc.so.13 or .12) was not found; install the CUDA Toolkit or set "
                   "CUDA_HOME to its folder");
  }
  if (const char *missing = nvrtc.find_functions()) {
    return failure(std::string("NVRTC is too old: it has no function ") + missing);
  }
  return nvrtc;
}

const char *Nvrtc::find_functions() {
  void *library = library_.get();
  const std::pair<const char *, bool> found[] = {
      {"nvrtcGetErrorString", find(library, "nvrtcGetErrorString", api_.error_string)},
      {"nvrtcVersion", find(library, "nvrtcVersion", api_.version)},
      {"nvrtcGetNumSupportedArchs",
       find(library, "nvrtcGetNumSupportedArchs", api_.architecture_count)},
      {"nvrtcGetSupportedArchs", find(library, "nvrtcGetSupportedArchs", api_.architectures)},
      {"nvrtcCreateProgram", find(library, "nvrtcCreateProgram", api_.create)},
      {"nvrtcDestroyProgram", find(library, "nvrtcDestroyProgram", api_.destroy)},
      {"nvrtcAddNameExpression", find(library, "nvrtcAddNameExpression", api_.add_name)},
      {"nvrtcGetLoweredName", find(library, "nvrtcGetLoweredName", api_.lowered_name)},
      {"nvrtcCompileProgram", find(library, "nvrtcCompileProgram", api_.compile)},
      {"nvrtcGetProgramLogSize", find(library, "nvrtcGetProgramLogSize", api_.log_size)},
      {"nvrtcGetProgramLog", find(library, "nvrtcGetProgramLog", api_.log)},
      {"nvrtcGetCUBINSize", find(library, "nvrtcGetCUBINSize", api_.cubin_size)},
      {"nvrtcGetCUBIN", find(library, "nvrtcGetCUBIN", api_.cubin)},
      {"nvrtcGetPTXSize", find(library, "nvrtcGetPTXSize", api_.ptx_size)},
      {"nvrtcGetPTX", find(library, "nvrtcGetPTX", api_.ptx)},
  };
  for (const auto &[name, there] : found) {
    if (!there) {
      return name;
    }
  }
  return nullptr;
}

std::string Nvrtc::version() const {
  int major = 0;
  int minor = 0;
  if (api_.version(&major, &minor) != success) {
    return "of unknown version";
  }
  return std::to_string(major) + "." + std::to_string(minor);
}

std::vector<int> Nvrtc::architectures() const {
  int count = 0;
  if (api_.architecture_count(&count) != success || count <= 0) {
    return {};
  }
  std::vector<int> all(static_cast<std::size_t>(count));
  if (api_.architectures(all.data()) != success) {
    return {};
  }
  return all;
}

std::vector<std::string> Nvrtc::include_folders() const {
  std::vector<std::filesystem::path> candidates;
  Dl_info where{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void *>(api_.version), &where) != 0) {
    const auto folder = std::filesystem::canonical(where.dli_fname, error).parent_path();
    if (!error) {
      candidates.push_back(folder.parent_path() / "include");               // lib/
      candidates.push_back(folder.parent_path().parent_path() / "include"); // lib/x86_64-linux-gnu/
      candidates.push_back(folder.parent_path().parent_path() / "cuda_runtime" /
                           "include"); // wheels
    }
  }
  for (const std::filesystem::path &toolkit : toolkit_folders()) {
    candidates.push_back(toolkit / "include");
  }
  for (const std::filesystem::path &candidate : candidates) {
    if (!std::filesystem::exists(candidate / "cuda_fp16.h", error)) {
      continue;
    }
    std::vector<std::string> folders{candidate.string()};
    if (std::filesystem::exists(candidate / "cccl", error)) {
      folders.push_back((candidate / "cccl").string());
    }
    return folders;
  }
  return {};
}

llvm::Error Nvrtc::check(int result, const char *call) const {
  if (result == success) {
    return llvm::Error::success();
  }
  return failure(std::string(call) + ": " + api_.error_string(result));
}

llvm::Expected<std::string> Nvrtc::read(Program *program, SizeFunction get_size,
                                        ReadFunction get) const {
  std::size_t bytes = 0;
  if (llvm::Error error = check(get_size(program, &bytes), "NVRTC: size of its output")) {
    return error;
  }
  std::string text(bytes, '\0');
  if (bytes != 0) {
    if (llvm::Error error = check(get(program, text.data()), "NVRTC: its output")) {
      return error;
    }
  }
  return text;
}

llvm::Error Nvrtc::read_output(Program *program, int compile_result, Output &output) const {
  llvm::Expected<std::string> log = read(program, api_.log_size, api_.log);
  if (!log) {
    return log.takeError();
  }
  output.log = without_nul(*log);
  if (compile_result == compilation_failed || compile_result == invalid_option) {
    return llvm::Error::success();
  }
  if (llvm::Error error = check(compile_result, "nvrtcCompileProgram")) {
    return error;
  }
  llvm::Expected<std::string> cubin = read(program, api_.cubin_size, api_.cubin);
  if (!cubin) {
    return cubin.takeError();
  }
  llvm::Expected<std::string> ptx = read(program, api_.ptx_size, api_.ptx);
  if (!ptx) {
    return ptx.takeError();
  }
  output.cubin = to_bytes(*cubin);
  output.ptx = to_bytes(without_nul(*ptx));
  output.ok = true;
  return llvm::Error::success();
}

llvm::Error Nvrtc::read_symbols(Program *program, const std::vector<std::string> &kernels,
                                Output &output) const {
  for (const std::string &kernel : kernels) {
    const char *symbol = nullptr;
    if (llvm::Error error =
            check(api_.lowered_name(program, kernel.c_str(), &symbol), "nvrtcGetLoweredName")) {
      return error;
    }
    output.symbols.emplace_back(symbol);
  }
  return llvm::Error::success();
}

llvm::Expected<Nvrtc::Output> Nvrtc::compile(const std::string &source,
                                             const std::vector<std::string> &options,
                                             const std::vector<std::string> &kernels) const {
  Program *created = nullptr;
  if (llvm::Error error =
          check(api_.create(&created, source.c_str(), "cgraph", 0, nullptr, nullptr),
                "nvrtcCreateProgram")) {
    return error;
  }
  const auto destroy = [this](Program *program) { api_.destroy(&program); };
  const std::unique_ptr<Program, decltype(destroy)> program(created, destroy);
  for (const std::string &kernel : kernels) {
    if (llvm::Error error =
            check(api_.add_name(program.get(), kernel.c_str()), "nvrtcAddNameExpression")) {
      return error;
    }
  }
  std::vector<const char *> arguments;
  arguments.reserve(options.size());
  for (const std::string &option : options) {
    arguments.push_back(option.c_str());
  }
  const int result =
      api_.compile(program.get(), static_cast<int>(arguments.size()), arguments.data());
  Output output;
  if (llvm::Error error = read_output(program.get(), result, output)) {
    return error;
  }
  if (output.ok) {
    if (llvm::Error error = read_symbols(program.get(), kernels, output)) {
      return error;
    }
  }
  return output;
}

} // namespace cgc
