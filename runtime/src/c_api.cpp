// The C interface: devices, instances and executables.
#include "c_handles.h"

#include "format/program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

using namespace cgrt;

namespace {

thread_local std::string last_reason;

// cgrt_param and cgrt_argument hold a scalar in the same way.
template <typename Holder> Scalar scalar_of(const Holder &holder) {
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
  throw Error(ErrorCode::Usage, "there is no such kind of value");
}

template <typename Holder> void store(const Scalar &scalar, Holder &holder) {
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
static_assert(static_cast<int>(ScalarType::F64) == CGRT_F64);
static_assert(static_cast<int>(ScalarType::F16) == CGRT_F16);
static_assert(static_cast<int>(MemorySpace::Device) == CGRT_DEVICE_MEMORY);
static_assert(static_cast<int>(CallerAccess::InOut) == CGRT_INOUT);
static_assert(static_cast<int>(UpdateKind::Rebuilt) == CGRT_UPDATE_REBUILT);
static_assert(static_cast<int>(EffectFault::Kind::ReadOut) == CGRT_READ_OUT);
static_assert(format::max_dimensions == CGRT_MAX_DIMENSIONS);

std::map<std::string, Scalar> params_of(const cgrt_param *params, std::size_t count) {
  std::map<std::string, Scalar> all;
  for (const cgrt_param &param : list(params, count, "params")) {
    all.insert_or_assign(text(param.name, "a param's name"), scalar_of(param));
  }
  return all;
}

/// Tells the caller that memory has gone out of use, but only where it ever came into use.
struct Release {
  cgrt_release function;
  void *user;
  bool in_use = false;

  Release(cgrt_release given_function, void *given_user)
      : function(given_function), user(given_user) {}
  Release(const Release &) = delete;
  Release &operator=(const Release &) = delete;
  ~Release() {
    if (in_use) {
      function(user);
    }
  }
};

/// Memory that an update binds.
struct BoundByC {
  std::map<std::string, BoundMemory> all;
  std::vector<std::shared_ptr<Release>> releases;

  BoundByC(const cgrt_memory *memory, std::size_t count) {
    for (const cgrt_memory &each : list(memory, count, "memory")) {
      add(each);
    }
  }

  void add(const cgrt_memory &each) {
    if (!is_type(each.type)) {
      throw Error(ErrorCode::Usage, "there is no such type of elements");
    }
    BoundMemory bound;
    bound.type = static_cast<ScalarType>(each.type);
    bound.writable = each.is_const == 0;
    bound.data = static_cast<std::byte *>(
        each.bytes == 0 ? each.data
                        : &required(static_cast<std::byte *>(each.data), "memory for a buffer"));
    bound.bytes = each.bytes;
    if (each.release != nullptr) {
      bound.owner = releases.emplace_back(std::make_shared<Release>(each.release, each.user));
    }
    all.insert_or_assign(text(each.buffer, "a buffer's name"), bound);
  }
};

std::vector<cgrt_argument> arguments_of(CallArguments arguments) {
  std::vector<cgrt_argument> all;
  for (const CallArgument &argument : arguments) {
    cgrt_argument &next = all.emplace_back();
    if (const auto *buffer = std::get_if<CallBuffer>(&argument)) {
      next.type = static_cast<cgrt_type>(buffer->type);
      next.data = buffer->data;
      next.rank = buffer->shape.size();
      next.shape = buffer->shape.data();
    } else {
      store(std::get<Scalar>(argument), next);
    }
  }
  return all;
}

void require_zero(int result) {
  if (result != 0) {
    throw std::runtime_error("it returned " + std::to_string(result));
  }
}

HostCall host_call(cgrt_host_function function, void *user) {
  required(function, "the function");
  return [function, user](CallArguments arguments) {
    const std::vector<cgrt_argument> all = arguments_of(arguments);
    require_zero(function(user, all.data(), all.size()));
  };
}

} // namespace

extern "C" {

cgrt_status cgrt_device_host(uint64_t seed, uint32_t threads, cgrt_device **device) {
  return make(device, [&] { return Device::host({seed, threads}); });
}

cgrt_status cgrt_device_cuda(int ordinal, cgrt_device **device) {
  return make(device, [&] { return Device::cuda(ordinal); });
}

cgrt_status cgrt_device_automatic(cgrt_device **device) {
  return guarded([&] {
    cgrt_device *&where = required(device, "the place for the handle");
    std::string why_host;
    const Device found = Device::automatic({}, &why_host);
    where = new cgrt_device{found, std::move(why_host)};
  });
}

const char *cgrt_device_why_host(const cgrt_device *device) {
  return device == nullptr ? "" : device->why_host.c_str();
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
    return Instance(required(program, "the program").program, required(device, "the device").device,
                    params_of(params, param_count));
  });
}

void cgrt_instance_destroy(cgrt_instance *instance) {
  delete instance;
}

cgrt_status cgrt_instance_update(cgrt_instance *instance, const cgrt_param *params,
                                 size_t param_count, const cgrt_memory *memory, size_t memory_count,
                                 cgrt_update_report *report) {
  return guarded([&] {
    BoundByC bound(memory, memory_count);
    Instance &target = required(instance, "the instance").instance;
    UpdateReport done = target.update({params_of(params, param_count), std::move(bound.all)});
    for (const std::shared_ptr<Release> &release : bound.releases) {
      release->in_use = true;
    }
    if (report != nullptr) {
      last_reason = std::move(done.reason);
      *report = {static_cast<cgrt_update_kind>(done.kind), done.nodes, done.rebuilt,
                 last_reason.c_str()};
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
    const BufferView found =
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
      throw Error(ErrorCode::Usage, "buffer " + std::string(name) + " has " +
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
        .instance.bind_any_captured(text(name, "the function's name"),
                                    [function, user](CUstream_st *stream, CallArguments arguments) {
                                      const std::vector<cgrt_argument> all =
                                          arguments_of(arguments);
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

cgrt_status cgrt_instance_check_effects(cgrt_instance *instance, const char *graph,
                                        cgrt_effect_function function, void *user,
                                        uint64_t *launches) {
  return guarded([&] {
    required(function, "the function");
    const EffectReport report = required(instance, "the instance")
                                    .instance.check_effects(graph == nullptr ? "main" : graph);
    for (const EffectFault &fault : report.faults) {
      const cgrt_effect_fault told = {static_cast<cgrt_effect_kind>(fault.kind),
                                      fault.kernel.c_str(),
                                      fault.parameter.c_str(),
                                      fault.buffer.c_str(),
                                      fault.element.data(),
                                      fault.element.size(),
                                      fault.elements,
                                      fault.message.c_str(),
                                      fault.where.file.c_str(),
                                      fault.where.line,
                                      fault.where.column};
      function(user, &told);
    }
    if (launches != nullptr) {
      *launches = report.launches;
    }
    if (report.stopped) {
      throw Error(*report.stopped);
    }
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
                           in_order != 0 ? Order::AfterEarlier : Order::OfItsStream);
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

int cgrt_executable_is_cancellable(const cgrt_executable *executable) {
  return executable != nullptr && executable->executable.is_cancellable() ? 1 : 0;
}

cgrt_status cgrt_executable_get_info(const cgrt_executable *executable,
                                     cgrt_executable_info *info) {
  return guarded([&] {
    const cgrt_executable &from = required(executable, "the executable");
    const BuildTimes times = from.executable.times();
    required(info, "info") = {from.executable.node_count(), from.executable.edge_count(),
                              times.build_us, times.instantiate_us, from.timing_events.size()};
  });
}

const char *cgrt_executable_timing_event(const cgrt_executable *executable, size_t index) {
  return executable == nullptr || index >= executable->timing_events.size()
             ? ""
             : executable->timing_events[index].c_str();
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
