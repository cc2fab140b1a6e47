// What the files of the C interface share.
#pragma once

#include <cgrt/cgrt.h>
#include <cgrt/cgrt_c.h>

#include <cstddef>
#include <exception>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace cgrt {

/// The names of each one's parameters as C has them; valid as long as `infos`.
template <typename Info>
std::vector<std::vector<const char *>> parameters_of(const std::vector<Info> &infos) {
  std::vector<std::vector<const char *>> all;
  for (const Info &info : infos) {
    std::vector<const char *> &names = all.emplace_back();
    for (const std::string &name : info.parameters) {
      names.push_back(name.c_str());
    }
  }
  return all;
}

} // namespace cgrt

// A handle is the C++ object, with what strings are returned from.
struct cgrt_program {
  cgrt::Program program;
  std::vector<cgrt::ParamInfo> params = program.params();
  std::vector<cgrt::BufferInfo> buffers = program.buffers();
  std::vector<cgrt::GraphInfo> graphs = program.graphs();
  std::vector<cgrt::FunctionInfo> functions = program.functions();
  std::vector<cgrt::KernelInfo> kernels = program.external_kernels();
  std::vector<cgrt::EventInfo> events = program.events();
  std::vector<std::vector<const char *>> function_parameters = cgrt::parameters_of(functions);
  std::vector<std::vector<const char *>> kernel_parameters = cgrt::parameters_of(kernels);
};
struct cgrt_device {
  cgrt::Device device;
  std::string why_host = {};
  std::string name = device.name();
};
struct cgrt_instance {
  cgrt::Instance instance;
};
struct cgrt_executable {
  cgrt::Executable executable;
  std::vector<std::string> timing_events = executable.timing_events();
};

namespace cgrt {

/// Keeps the message for cgrt_last_error().
cgrt_status failed(cgrt_status status, const char *message) noexcept;
cgrt_status status_of(ErrorCode code);
bool is_type(cgrt_type type);

/// No exception leaves the C interface.
template <typename Work> cgrt_status guarded(const Work &work) noexcept {
  try {
    work();
    return CGRT_OK;
  } catch (const Error &error) {
    return failed(status_of(error.code()), error.what());
  } catch (const std::bad_alloc &) {
    return failed(CGRT_FAILED, "there is no memory left");
  } catch (const std::exception &error) {
    return failed(CGRT_FAILED, error.what());
  } catch (...) {
    return failed(CGRT_FAILED, "an exception of an unknown type");
  }
}

template <typename T> T &required(T *pointer, const char *what) {
  if (pointer == nullptr) {
    throw Error(ErrorCode::Usage, std::string(what) + " is null");
  }
  return *pointer;
}

inline const char *text(const char *pointer, const char *what) {
  return &required(pointer, what);
}

template <typename T> std::span<const T> list(const T *items, std::size_t count, const char *what) {
  if (count != 0) {
    required(items, what);
  }
  return {items, count};
}

/// Makes a handle; stored only where nothing has failed.
template <typename Handle, typename Make> cgrt_status make(Handle **to, const Make &make_handle) {
  return guarded([&] {
    Handle *&where = required(to, "the place for the handle");
    where = new Handle{make_handle()};
  });
}

} // namespace cgrt
