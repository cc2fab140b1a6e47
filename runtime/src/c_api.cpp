#include <cgrt/cgrt_c.h>

#include <cgrt/cgrt.h>

#include "format/program.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

// A handle is the C++ object, with what strings are returned from.
struct cgrt_program {
  cgrt::Program program;
  std::vector<cgrt::ParamInfo> params = program.params();
  std::vector<cgrt::BufferInfo> buffers = program.buffers();
  std::vector<cgrt::GraphInfo> graphs = program.graphs();
};
struct cgrt_device {
  cgrt::Device device;
  std::string name = device.name();
};
struct cgrt_instance {
  cgrt::Instance instance;
};
struct cgrt_executable {
  cgrt::Executable executable;
};

namespace {

thread_local std::string last_error;

cgrt_status failed(cgrt_status status, const char *message) noexcept {
  try {
    last_error = message;
  } catch (...) {
    last_error.clear(); // there is no memory for it
  }
  return status;
}

cgrt_status status_of(cgrt::ErrorCode code) {
  switch (code) {
  case cgrt::ErrorCode::InvalidProgram:
    return CGRT_INVALID_PROGRAM;
  case cgrt::ErrorCode::InvalidValue:
    return CGRT_INVALID_VALUE;
  case cgrt::ErrorCode::Usage:
    return CGRT_USAGE;
  case cgrt::ErrorCode::Device:
    return CGRT_DEVICE;
  case cgrt::ErrorCode::Stopped:
    return CGRT_STOPPED;
  case cgrt::ErrorCode::Callback:
    return CGRT_CALLBACK;
  }
  return CGRT_FAILED;
}

/// No exception leaves the C interface.
template <typename Work> cgrt_status guarded(const Work &work) noexcept {
  try {
    work();
    return CGRT_OK;
  } catch (const cgrt::Error &error) {
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
    throw cgrt::Error(cgrt::ErrorCode::Usage, std::string(what) + " is null");
  }
  return *pointer;
}

const char *text(const char *pointer, const char *what) {
  return &required(pointer, what);
}

template <typename T> std::span<const T> list(const T *items, std::size_t count, const char *what) {
  if (count != 0) {
    required(items, what);
  }
  return {items, count};
}

// cgrt_param and cgrt_argument hold a scalar in the same way.
template <typename Holder> cgrt::Scalar scalar_of(const Holder &holder) {
  switch (holder.kind) {
  case CGRT_KIND_BOOL:
    return holder.value.boolean != 0;
  case CGRT_KIND_I64:
    return holder.value.i64;
  case CGRT_KIND_U64:
    return holder.value.u64;
  case CGRT_KIND_F64:
    return holder.value.f64;
  }
  throw cgrt::Error(cgrt::ErrorCode::Usage, "there is no such kind of value");
}

template <typename Holder> void store(const cgrt::Scalar &scalar, Holder &holder) {
  std::visit(
      [&holder](auto value) {
        using Value = decltype(value);
        if constexpr (std::is_same_v<Value, bool>) {
          holder.kind = CGRT_KIND_BOOL;
          holder.value.boolean = value ? 1 : 0;
        } else if constexpr (std::is_same_v<Value, std::int64_t>) {
          holder.kind = CGRT_KIND_I64;
          holder.value.i64 = value;
        } else if constexpr (std::is_same_v<Value, std::uint64_t>) {
          holder.kind = CGRT_KIND_U64;
          holder.value.u64 = value;
        } else {
          holder.kind = CGRT_KIND_F64;
          holder.value.f64 = value;
        }
      },
      scalar);
}

// The enumerators are those of C++, in the same order.
static_assert(static_cast<int>(cgrt::ScalarType::F64) == CGRT_F64);
static_assert(static_cast<int>(cgrt::ScalarType::F16) == CGRT_F16);
static_assert(static_cast<int>(cgrt::MemorySpace::Device) == CGRT_DEVICE_MEMORY);
static_assert(static_cast<int>(cgrt::CallerAccess::InOut) == CGRT_INOUT);
static_assert(static_cast<int>(cgrt::UpdateKind::Rebuilt) == CGRT_UPDATE_REBUILT);
static_assert(cgrt::format::max_dimensions == CGRT_MAX_DIMENSIONS);

bool is_type(cgrt_type type) {
  return type >= CGRT_BOOL && type <= CGRT_F64;
}

std::map<std::string, cgrt::Scalar> params_of(const cgrt_param *params, std::size_t count) {
  std::map<std::string, cgrt::Scalar> all;
  for (const cgrt_param &param : list(params, count, "params")) {
    all.insert_or_assign(text(param.name, "a param's name"), scalar_of(param));
  }
  return all;
}

std::map<std::string, cgrt::BoundMemory> memory_of(const cgrt_memory *memory, std::size_t count) {
  std::map<std::string, cgrt::BoundMemory> all;
  for (const cgrt_memory &each : list(memory, count, "memory")) {
    if (!is_type(each.type)) {
      throw cgrt::Error(cgrt::ErrorCode::Usage, "there is no such type of elements");
    }
    cgrt::BoundMemory bound;
    bound.type = static_cast<cgrt::ScalarType>(each.type);
    bound.data = static_cast<std::byte *>(
        each.bytes == 0 ? each.data
                        : &required(static_cast<std::byte *>(each.data), "memory for a buffer"));
    bound.bytes = each.bytes;
    all.insert_or_assign(text(each.buffer, "a buffer's name"), bound);
  }
  return all;
}

std::vector<cgrt_argument> arguments_of(cgrt::CallArguments arguments) {
  std::vector<cgrt_argument> all;
  for (const cgrt::CallArgument &argument : arguments) {
    cgrt_argument &next = all.emplace_back();
    if (const auto *buffer = std::get_if<cgrt::CallBuffer>(&argument)) {
      next.type = static_cast<cgrt_type>(buffer->type);
      next.data = buffer->data;
      next.rank = buffer->shape.size();
      next.shape = buffer->shape.data();
    } else {
      store(std::get<cgrt::Scalar>(argument), next);
    }
  }
  return all;
}

void require_zero(int result) {
  if (result != 0) {
    throw std::runtime_error("it returned " + std::to_string(result));
  }
}

cgrt::HostCall host_call(cgrt_host_function function, void *user) {
  required(function, "the function");
  return [function, user](cgrt::CallArguments arguments) {
    const std::vector<cgrt_argument> all = arguments_of(arguments);
    require_zero(function(user, all.data(), all.size()));
  };
}

template <typename Infos, typename Info, typename Fill>
cgrt_status info_at(const Infos &infos, std::size_t index, Info *info, const Fill &fill) {
  return guarded([&] {
    if (index >= infos.size()) {
      throw cgrt::Error(cgrt::ErrorCode::Usage, "there are " + std::to_string(infos.size()) +
                                                    " of them; there is no number " +
                                                    std::to_string(index));
    }
    fill(infos[index], required(info, "info"));
  });
}

/// Makes a handle; stored only where nothing has failed.
template <typename Handle, typename Make> cgrt_status make(Handle **to, const Make &make_handle) {
  return guarded([&] {
    Handle *&where = required(to, "the place for the handle");
    where = new Handle{make_handle()};
  });
}

} // namespace

extern "C" {

const char *cgrt_last_error(void) {
  return last_error.c_str();
}

const char *cgrt_version(void) {
  return CGRAPH_VERSION;
}

size_t cgrt_size_of(cgrt_type type) {
  return is_type(type) ? cgrt::size_of(static_cast<cgrt::ScalarType>(type)) : 0;
}

cgrt_status cgrt_program_from_file(const char *path, cgrt_program **program) {
  return make(program, [&] { return cgrt::Program::from_file(text(path, "the path")); });
}

cgrt_status cgrt_program_from_bytes(const void *bytes, size_t count, const char *name,
                                    cgrt_program **program) {
  return make(program, [&] {
    return cgrt::Program::from_bytes(list(static_cast<const std::byte *>(bytes), count, "bytes"),
                                     name == nullptr ? "bundle" : name);
  });
}

void cgrt_program_destroy(cgrt_program *program) {
  delete program;
}

size_t cgrt_program_param_count(const cgrt_program *program) {
  return program == nullptr ? 0 : program->params.size();
}

cgrt_status cgrt_program_param(const cgrt_program *program, size_t index, cgrt_param_info *info) {
  static const std::vector<cgrt::ParamInfo> none;
  return info_at(
      program == nullptr ? none : program->params, index, info,
      [](const cgrt::ParamInfo &from, cgrt_param_info &to) {
        to = {from.name.c_str(), static_cast<cgrt_type>(from.type), from.required ? 1 : 0};
      });
}

size_t cgrt_program_buffer_count(const cgrt_program *program) {
  return program == nullptr ? 0 : program->buffers.size();
}

cgrt_status cgrt_program_buffer(const cgrt_program *program, size_t index, cgrt_buffer_info *info) {
  static const std::vector<cgrt::BufferInfo> none;
  return info_at(program == nullptr ? none : program->buffers, index, info,
                 [](const cgrt::BufferInfo &from, cgrt_buffer_info &to) {
                   to = {from.name.c_str(), static_cast<cgrt_type>(from.type),
                         static_cast<cgrt_space>(from.space),
                         static_cast<cgrt_access>(from.access)};
                 });
}

size_t cgrt_program_graph_count(const cgrt_program *program) {
  return program == nullptr ? 0 : program->graphs.size();
}

cgrt_status cgrt_program_graph(const cgrt_program *program, size_t index, cgrt_graph_info *info) {
  static const std::vector<cgrt::GraphInfo> none;
  return info_at(program == nullptr ? none : program->graphs, index, info,
                 [](const cgrt::GraphInfo &from, cgrt_graph_info &to) {
                   to = {from.name.c_str(), from.nodes, from.edges};
                 });
}

cgrt_status cgrt_device_host(uint64_t seed, uint32_t threads, cgrt_device **device) {
  return make(device, [&] { return cgrt::Device::host({seed, threads}); });
}

cgrt_status cgrt_device_cuda(int ordinal, cgrt_device **device) {
  return make(device, [&] { return cgrt::Device::cuda(ordinal); });
}

cgrt_status cgrt_device_automatic(cgrt_device **device) {
  return make(device, [] { return cgrt::Device::automatic(); });
}

const char *cgrt_device_name(const cgrt_device *device) {
  return device == nullptr ? "" : device->name.c_str();
}

int cgrt_device_is_cuda(const cgrt_device *device) {
  return device != nullptr && device->device.is_cuda() ? 1 : 0;
}

void cgrt_device_destroy(cgrt_device *device) {
  delete device;
}

cgrt_status cgrt_instance_create(const cgrt_program *program, const cgrt_device *device,
                                 const cgrt_param *params, size_t param_count,
                                 cgrt_instance **instance) {
  return make(instance, [&] {
    return cgrt::Instance(required(program, "the program").program,
                          required(device, "the device").device, params_of(params, param_count));
  });
}

void cgrt_instance_destroy(cgrt_instance *instance) {
  delete instance;
}

cgrt_status cgrt_instance_update(cgrt_instance *instance, const cgrt_param *params,
                                 size_t param_count, const cgrt_memory *memory, size_t memory_count,
                                 cgrt_update_report *report) {
  return guarded([&] {
    const cgrt::UpdateReport done =
        required(instance, "the instance")
            .instance.update({params_of(params, param_count), memory_of(memory, memory_count)});
    if (report != nullptr) {
      *report = {static_cast<cgrt_update_kind>(done.kind), done.nodes, done.rebuilt};
    }
  });
}

cgrt_status cgrt_instance_set_i64(cgrt_instance *instance, const char *param, int64_t value) {
  return guarded([&] {
    required(instance, "the instance").instance.set(text(param, "the param's name"), value);
  });
}

cgrt_status cgrt_instance_set_f64(cgrt_instance *instance, const char *param, double value) {
  return guarded([&] {
    required(instance, "the instance").instance.set(text(param, "the param's name"), value);
  });
}

cgrt_status cgrt_instance_unbind(cgrt_instance *instance, const char *buffer) {
  return guarded([&] {
    required(instance, "the instance").instance.unbind(text(buffer, "the buffer's name"));
  });
}

cgrt_status cgrt_instance_param(const cgrt_instance *instance, const char *param,
                                cgrt_param *value) {
  return guarded([&] {
    store(required(instance, "the instance").instance.param(text(param, "the param's name")),
          required(value, "the place for the value"));
  });
}

cgrt_status cgrt_instance_buffer(const cgrt_instance *instance, const char *buffer,
                                 cgrt_buffer_view *view) {
  return guarded([&] {
    const cgrt::BufferView found =
        required(instance, "the instance").instance.buffer(text(buffer, "the buffer's name"));
    cgrt_buffer_view &to = required(view, "the place for the view");
    to = {static_cast<cgrt_type>(found.type),
          static_cast<cgrt_space>(found.space),
          found.shape.size(),
          {},
          found.bytes};
    std::copy(found.shape.begin(), found.shape.end(), to.shape);
  });
}

cgrt_status cgrt_instance_host(cgrt_instance *instance, const char *buffer, void **data,
                               size_t *bytes) {
  return guarded([&] {
    const std::span<std::byte> memory =
        required(instance, "the instance").instance.host_bytes(text(buffer, "the buffer's name"));
    required(data, "the place for the address") = memory.data();
    if (bytes != nullptr) {
      *bytes = memory.size();
    }
  });
}

cgrt_status cgrt_instance_write(cgrt_instance *instance, const char *buffer, const void *data,
                                size_t bytes) {
  return guarded([&] {
    required(instance, "the instance")
        .instance.write(text(buffer, "the buffer's name"),
                        list(static_cast<const std::byte *>(data), bytes, "data"));
  });
}

cgrt_status cgrt_instance_read(const cgrt_instance *instance, const char *buffer, void *data,
                               size_t bytes) {
  return guarded([&] {
    const char *name = text(buffer, "the buffer's name");
    const std::vector<std::byte> found = required(instance, "the instance").instance.read(name);
    if (found.size() != bytes) {
      throw cgrt::Error(cgrt::ErrorCode::Usage, "buffer " + std::string(name) + " has " +
                                                    std::to_string(found.size()) + " bytes, not " +
                                                    std::to_string(bytes));
    }
    if (bytes != 0) {
      std::memcpy(&required(static_cast<std::byte *>(data), "data"), found.data(), bytes);
    }
  });
}

cgrt_status cgrt_instance_bind_callback(cgrt_instance *instance, const char *name,
                                        cgrt_host_function function, void *user) {
  return guarded([&] {
    required(instance, "the instance")
        .instance.bind_any_callback(text(name, "the callback's name"), host_call(function, user));
  });
}

cgrt_status cgrt_instance_bind_captured(cgrt_instance *instance, const char *name,
                                        cgrt_stream_function function, void *user) {
  return guarded([&] {
    required(function, "the function");
    required(instance, "the instance")
        .instance.bind_any_captured(
            text(name, "the function's name"),
            [function, user](CUstream_st *stream, cgrt::CallArguments arguments) {
              const std::vector<cgrt_argument> all = arguments_of(arguments);
              require_zero(function(user, stream, all.data(), all.size()));
            });
  });
}

cgrt_status cgrt_instance_bind_host(cgrt_instance *instance, const char *name,
                                    cgrt_host_function function, void *user) {
  return guarded([&] {
    required(instance, "the instance")
        .instance.bind_any_host(text(name, "the function's name"), host_call(function, user));
  });
}

cgrt_status cgrt_instance_bind_kernel(cgrt_instance *instance, const char *name,
                                      const void *function) {
  return guarded([&] {
    required(instance, "the instance")
        .instance.bind_kernel(text(name, "the kernel's name"), function);
  });
}

cgrt_status cgrt_instance_bind_event(cgrt_instance *instance, const char *name, void *event) {
  return guarded([&] {
    required(instance, "the instance")
        .instance.bind_event(text(name, "the event's name"), static_cast<CUevent_st *>(event));
  });
}

cgrt_status cgrt_instance_executable(cgrt_instance *instance, const char *graph,
                                     cgrt_executable **executable) {
  return make(executable, [&] {
    return required(instance, "the instance")
        .instance.executable(graph == nullptr ? "main" : graph);
  });
}

void cgrt_executable_destroy(cgrt_executable *executable) {
  delete executable;
}

cgrt_status cgrt_executable_launch(cgrt_executable *executable) {
  return guarded([&] { required(executable, "the executable").executable.launch(); });
}

cgrt_status cgrt_executable_launch_on(cgrt_executable *executable, void *stream, int in_order) {
  return guarded([&] {
    required(executable, "the executable")
        .executable.launch(static_cast<CUstream_st *>(stream),
                           in_order != 0 ? cgrt::Order::AfterEarlier : cgrt::Order::OfItsStream);
  });
}

cgrt_status cgrt_executable_wait(cgrt_executable *executable) {
  return guarded([&] { required(executable, "the executable").executable.wait(); });
}

void cgrt_executable_stop(cgrt_executable *executable) {
  if (executable != nullptr) {
    executable->executable.stop();
  }
}

cgrt_status cgrt_executable_elapsed(const cgrt_executable *executable, const char *begin,
                                    const char *end, double *milliseconds) {
  return guarded([&] {
    required(milliseconds, "the place for the time") =
        required(executable, "the executable")
            .executable.elapsed(text(begin, "an event's name"), text(end, "an event's name"));
  });
}

} // extern "C"
