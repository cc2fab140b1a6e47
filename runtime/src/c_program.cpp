// The C interface: errors and programs.
#include "c_handles.h"

using namespace cgrt;

namespace {

thread_local std::string last_error;

template <typename Infos, typename Info, typename Fill>
cgrt_status info_at(const Infos &infos, std::size_t index, Info *info, const Fill &fill) {
  return guarded([&] {
    if (index >= infos.size()) {
      throw Error(ErrorCode::Usage, "there are " + std::to_string(infos.size()) +
                                        " of them; there is no number " + std::to_string(index));
    }
    fill(infos[index], required(info, "info"));
  });
}

/// The list of a program, or of none.
template <typename Info>
const std::vector<Info> &of(const cgrt_program *program, std::vector<Info> cgrt_program::*list) {
  static const std::vector<Info> none;
  return program == nullptr ? none : program->*list;
}

} // namespace

namespace cgrt {

cgrt_status failed(cgrt_status status, const char *message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear(); // there is no memory for it
  }
  return status;
}

cgrt_status status_of(ErrorCode code) {
  switch (code) {
  case ErrorCode::InvalidProgram:
    return CGRT_INVALID_PROGRAM;
  case ErrorCode::InvalidValue:
    return CGRT_INVALID_VALUE;
  case ErrorCode::Usage:
    return CGRT_USAGE;
  case ErrorCode::Device:
    return CGRT_DEVICE;
  case ErrorCode::Stopped:
    return CGRT_STOPPED;
  case ErrorCode::Callback:
    return CGRT_CALLBACK;
  }
  return CGRT_FAILED;
}

bool is_type(cgrt_type type) {
  return type >= CGRT_BOOL && type <= CGRT_F64;
}

} // namespace cgrt

extern "C" {

const char *cgrt_last_error(void) {
  return last_error.c_str();
}

const char *cgrt_version(void) {
  return CGRAPH_VERSION;
}

size_t cgrt_size_of(cgrt_type type) {
  return is_type(type) ? size_of(static_cast<ScalarType>(type)) : 0;
}

cgrt_status cgrt_program_from_file(const char *path, cgrt_program **program) {
  return make(program, [&] { return Program::from_file(text(path, "the path")); });
}

cgrt_status cgrt_program_from_bytes(const void *bytes, size_t count, const char *name,
                                    cgrt_program **program) {
  return make(program, [&] {
    return Program::from_bytes(list(static_cast<const std::byte *>(bytes), count, "bytes"),
                               name == nullptr ? "bundle" : name);
  });
}

void cgrt_program_destroy(cgrt_program *program) {
  delete program;
}

size_t cgrt_program_param_count(const cgrt_program *program) {
  return of(program, &cgrt_program::params).size();
}

cgrt_status cgrt_program_param(const cgrt_program *program, size_t index, cgrt_param_info *info) {
  return info_at(
      of(program, &cgrt_program::params), index, info,
      [](const ParamInfo &from, cgrt_param_info &to) {
        to = {from.name.c_str(), static_cast<cgrt_type>(from.type), from.required ? 1 : 0};
      });
}

size_t cgrt_program_buffer_count(const cgrt_program *program) {
  return of(program, &cgrt_program::buffers).size();
}

cgrt_status cgrt_program_buffer(const cgrt_program *program, size_t index, cgrt_buffer_info *info) {
  return info_at(of(program, &cgrt_program::buffers), index, info,
                 [](const BufferInfo &from, cgrt_buffer_info &to) {
                   to = {from.name.c_str(), static_cast<cgrt_type>(from.type),
                         static_cast<cgrt_space>(from.space),
                         static_cast<cgrt_access>(from.access)};
                 });
}

size_t cgrt_program_graph_count(const cgrt_program *program) {
  return of(program, &cgrt_program::graphs).size();
}

cgrt_status cgrt_program_graph(const cgrt_program *program, size_t index, cgrt_graph_info *info) {
  return info_at(of(program, &cgrt_program::graphs), index, info,
                 [](const GraphInfo &from, cgrt_graph_info &to) {
                   to = {from.name.c_str(), from.nodes, from.edges, from.device_launch ? 1 : 0};
                 });
}

size_t cgrt_program_function_count(const cgrt_program *program) {
  return of(program, &cgrt_program::functions).size();
}

cgrt_status cgrt_program_function(const cgrt_program *program, size_t index,
                                  cgrt_function_info *info) {
  return info_at(of(program, &cgrt_program::functions), index, info,
                 [&](const FunctionInfo &from, cgrt_function_info &to) {
                   const std::vector<const char *> &names = program->function_parameters[index];
                   to = {from.name.c_str(), from.is_captured ? 1 : 0, names.data(), names.size()};
                 });
}

size_t cgrt_program_external_kernel_count(const cgrt_program *program) {
  return of(program, &cgrt_program::kernels).size();
}

cgrt_status cgrt_program_external_kernel(const cgrt_program *program, size_t index,
                                         cgrt_kernel_info *info) {
  return info_at(of(program, &cgrt_program::kernels), index, info,
                 [&](const KernelInfo &from, cgrt_kernel_info &to) {
                   const std::vector<const char *> &names = program->kernel_parameters[index];
                   to = {from.name.c_str(), names.data(), names.size()};
                 });
}

size_t cgrt_program_event_count(const cgrt_program *program) {
  return of(program, &cgrt_program::events).size();
}

cgrt_status cgrt_program_event(const cgrt_program *program, size_t index, cgrt_event_info *info) {
  return info_at(of(program, &cgrt_program::events), index, info,
                 [](const EventInfo &from, cgrt_event_info &to) {
                   to = {from.name.c_str(), from.is_external ? 1 : 0};
                 });
}

} // extern "C"
