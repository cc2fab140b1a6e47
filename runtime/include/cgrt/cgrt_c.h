/* The C interface of cgrt, for C, Python's ctypes, Rust and whoever calls C. What it does is what
 * <cgrt/cgrt.h> does, which documents what that means, what it costs and which threads may call it.
 *
 *   cgrt_program *program = NULL;
 *   if (cgrt_program_from_file("saxpy.cgb", &program) != CGRT_OK) {
 *     fprintf(stderr, "%s\n", cgrt_last_error());
 *   }
 *
 * Errors: a function that can fail returns a status; it is CGRT_OK or the message is in
 * cgrt_last_error(). After an error the objects are as they were before the call, and what the call
 * would have stored is not stored. A null handle or name is CGRT_USAGE.
 * Ownership: what a function stores through a pointer to a handle is the caller's, who destroys it;
 * a destroyed program, device or instance lives on as long as another object needs it. Destroying a
 * null handle does nothing. Strings that are returned belong to the object that was asked, and
 * memory to its instance.
 * ABI: from version 1.0 on enumerators and functions are only ever added, and a structure that
 * grows gets a new name; until then a minor version may change it, and libcgrt_c.so is named after
 * it. */
#ifndef CGRT_C_H
#define CGRT_C_H

#include <stddef.h> /* NOLINT(modernize-deprecated-headers): it is C */
#include <stdint.h> /* NOLINT(modernize-deprecated-headers) */

/* NOLINTBEGIN(readability-identifier-naming,modernize-*,performance-enum-size): it is C */

#ifdef __cplusplus
extern "C" {
#define CGRT_FIXED : unsigned /* as in C: any value may come, and is looked at */
#else
#define CGRT_FIXED
#endif

typedef struct cgrt_program cgrt_program;
typedef struct cgrt_device cgrt_device;
typedef struct cgrt_instance cgrt_instance;
typedef struct cgrt_executable cgrt_executable;

typedef enum cgrt_status CGRT_FIXED {
  CGRT_OK = 0,
  CGRT_INVALID_PROGRAM = 1, /* a bundle is damaged or of another version */
  CGRT_INVALID_VALUE = 2,   /* a size, index, geometry or argument is not legal */
  CGRT_USAGE = 3,           /* something was named or given that is not there, or left out */
  CGRT_DEVICE = 4,          /* the device, the driver or the machine refused or failed */
  CGRT_STOPPED = 5,         /* a loop ended before its condition did; the rest has run */
  CGRT_CALLBACK = 6,        /* a callback failed; the rest has run */
  CGRT_FAILED = 7           /* no memory, or an exception of a C++ function */
} cgrt_status;

/* Of the last call of this thread that did not return CGRT_OK; "" before the first. Valid until the
 * thread's next call that fails. Starts with "FILE:LINE: " where there is a place. */
const char *cgrt_last_error(void);

/* "0.1.0" */
const char *cgrt_version(void);

typedef enum cgrt_type CGRT_FIXED {
  CGRT_BOOL = 0,
  CGRT_I8 = 1,
  CGRT_U8 = 2,
  CGRT_I16 = 3,
  CGRT_U16 = 4,
  CGRT_I32 = 5,
  CGRT_U32 = 6,
  CGRT_I64 = 7,
  CGRT_U64 = 8,
  CGRT_F16 = 9,
  CGRT_BF16 = 10,
  CGRT_F32 = 11,
  CGRT_F64 = 12
} cgrt_type;

/* Bytes of one element; 0 for no type. */
size_t cgrt_size_of(cgrt_type type);

/* ---- programs ---- */

cgrt_status cgrt_program_from_file(const char *path, cgrt_program **program);
/* The bytes are not needed afterwards; `name` is what errors call them. */
cgrt_status cgrt_program_from_bytes(const void *bytes, size_t count, const char *name,
                                    cgrt_program **program);
void cgrt_program_destroy(cgrt_program *program);

typedef enum cgrt_space CGRT_FIXED { CGRT_HOST = 0, CGRT_DEVICE_MEMORY = 1 } cgrt_space;
typedef enum cgrt_access CGRT_FIXED {
  CGRT_PRIVATE = 0,
  CGRT_IN = 1,
  CGRT_OUT = 2,
  CGRT_INOUT = 3
} cgrt_access;

typedef struct cgrt_param_info {
  const char *name;
  cgrt_type type;
  int required; /* it has no default */
} cgrt_param_info;

typedef struct cgrt_buffer_info {
  const char *name;
  cgrt_type type;
  cgrt_space space;
  cgrt_access access;
} cgrt_buffer_info;

typedef struct cgrt_graph_info {
  const char *name;
  size_t nodes;
  size_t edges;
  int device_launch; /* kernels can launch it, too */
} cgrt_graph_info;

/* A callback or captured function; its parameters by name, in order. */
typedef struct cgrt_function_info {
  const char *name;
  int is_captured;
  const char *const *parameters;
  size_t parameter_count;
} cgrt_function_info;

typedef struct cgrt_kernel_info {
  const char *name;
  const char *const *parameters;
  size_t parameter_count;
} cgrt_kernel_info;

typedef struct cgrt_event_info {
  const char *name;
  int is_external; /* else a timing event */
} cgrt_event_info;

/* The number of each, and what the one at `index`, below that number, is. */
size_t cgrt_program_param_count(const cgrt_program *program);
cgrt_status cgrt_program_param(const cgrt_program *program, size_t index, cgrt_param_info *info);
size_t cgrt_program_buffer_count(const cgrt_program *program);
cgrt_status cgrt_program_buffer(const cgrt_program *program, size_t index, cgrt_buffer_info *info);
size_t cgrt_program_graph_count(const cgrt_program *program);
cgrt_status cgrt_program_graph(const cgrt_program *program, size_t index, cgrt_graph_info *info);
size_t cgrt_program_function_count(const cgrt_program *program);
cgrt_status cgrt_program_function(const cgrt_program *program, size_t index,
                                  cgrt_function_info *info);
size_t cgrt_program_external_kernel_count(const cgrt_program *program);
cgrt_status cgrt_program_external_kernel(const cgrt_program *program, size_t index,
                                         cgrt_kernel_info *info);
size_t cgrt_program_event_count(const cgrt_program *program);
cgrt_status cgrt_program_event(const cgrt_program *program, size_t index, cgrt_event_info *info);

/* ---- devices ---- */

/* `seed` of the order of independent nodes; `threads` for the blocks of a kernel, 0: as it fits. */
cgrt_status cgrt_device_host(uint64_t seed, uint32_t threads, cgrt_device **device);
cgrt_status cgrt_device_cuda(int ordinal, cgrt_device **device);
/* The first GPU, or the host device; why that is in cgrt_device_why_host(). */
cgrt_status cgrt_device_automatic(cgrt_device **device);
/* "" of any other device. */
const char *cgrt_device_why_host(const cgrt_device *device);
/* "host" or "cuda:0 NVIDIA H200" */
const char *cgrt_device_name(const cgrt_device *device);
int cgrt_device_is_cuda(const cgrt_device *device);
void cgrt_device_destroy(cgrt_device *device);

/* ---- instances ---- */

typedef enum cgrt_kind CGRT_FIXED {
  CGRT_KIND_BOOL = 0,
  CGRT_KIND_I64 = 1,
  CGRT_KIND_U64 = 2,
  CGRT_KIND_F64 = 3
} cgrt_kind;

/* A param's name and value; `kind` says which member of `value` it is. */
typedef struct cgrt_param {
  const char *name;
  cgrt_kind kind;
  union {
    int boolean;
    int64_t i64;
    uint64_t u64;
    double f64;
  } value;
} cgrt_param;

cgrt_status cgrt_instance_create(const cgrt_program *program, const cgrt_device *device,
                                 const cgrt_param *params, size_t param_count,
                                 cgrt_instance **instance);
/* Waits for its launches where no executable is left. */
void cgrt_instance_destroy(cgrt_instance *instance);

/* Called once, when no launch uses the memory any more, from whatever call or thread finds that. */
typedef void (*cgrt_release)(void *user);

/* Memory of the caller's for a buffer; it outlives its use, until it is replaced or unbound and the
 * launches so far have been waited for. On a GPU memory for a `host` buffer is pinned. */
typedef struct cgrt_memory {
  const char *buffer;
  cgrt_type type;
  void *data;           /* a device address for a `device` buffer */
  size_t bytes;         /* at least the buffer's */
  int is_const;         /* not 0: the program must not write it */
  cgrt_release release; /* may be null; not called for an update that fails */
  void *user;           /* handed to `release` */
} cgrt_memory;

typedef enum cgrt_update_kind CGRT_FIXED {
  CGRT_UPDATE_NONE = 0,
  CGRT_UPDATE_IN_PLACE = 1,
  CGRT_UPDATE_REBUILT = 2
} cgrt_update_kind;

typedef struct cgrt_update_report {
  cgrt_update_kind kind;
  size_t nodes;       /* changed in place */
  size_t rebuilt;     /* executables made anew */
  const char *reason; /* why the first of these was; valid until the thread's next update */
} cgrt_update_report;

/* All of it or, after an error, nothing. `report` may be null. */
cgrt_status cgrt_instance_update(cgrt_instance *instance, const cgrt_param *params,
                                 size_t param_count, const cgrt_memory *memory, size_t memory_count,
                                 cgrt_update_report *report);
cgrt_status cgrt_instance_set_i64(cgrt_instance *instance, const char *param, int64_t value);
cgrt_status cgrt_instance_set_f64(cgrt_instance *instance, const char *param, double value);
cgrt_status cgrt_instance_unbind(cgrt_instance *instance, const char *buffer);

/* A param's value; stores `kind` and `value`. */
cgrt_status cgrt_instance_param(const cgrt_instance *instance, const char *param,
                                cgrt_param *value);

enum { CGRT_MAX_DIMENSIONS = 8 };

typedef struct cgrt_buffer_view {
  cgrt_type type;
  cgrt_space space;
  size_t rank;
  size_t shape[CGRT_MAX_DIMENSIONS]; /* row-major */
  size_t bytes;
} cgrt_buffer_view;

cgrt_status cgrt_instance_buffer(const cgrt_instance *instance, const char *buffer,
                                 cgrt_buffer_view *view);
/* The memory of a `host` buffer; valid until an update resizes or binds it. */
cgrt_status cgrt_instance_host(cgrt_instance *instance, const char *buffer, void **data,
                               size_t *bytes);
/* A whole buffer in either memory, after the launches so far. `bytes` is its exact size. */
cgrt_status cgrt_instance_write(cgrt_instance *instance, const char *buffer, const void *data,
                                size_t bytes);
cgrt_status cgrt_instance_read(const cgrt_instance *instance, const char *buffer, void *data,
                               size_t bytes);

/* What a callback or captured function is given: a scalar, or a buffer whose `data` is not null. */
typedef struct cgrt_argument {
  cgrt_kind kind; /* of a scalar */
  union {
    int boolean;
    int64_t i64;
    uint64_t u64;
    double f64;
  } value;
  cgrt_type type; /* of a buffer */
  void *data;
  size_t rank;
  const size_t *shape;
} cgrt_argument;

/* Return 0, or another number for an error that the next wait reports. Called from a thread of
 * CUDA's; it must not call cgrt or CUDA. */
typedef int (*cgrt_host_function)(void *user, const cgrt_argument *arguments, size_t count);
/* Puts its work on the stream, a cudaStream_t. Not 0: the executable is not made. */
typedef int (*cgrt_stream_function)(void *user, void *stream, const cgrt_argument *arguments,
                                    size_t count);

/* `user` is handed through and must outlive the binding and the launches that use it. */
cgrt_status cgrt_instance_bind_callback(cgrt_instance *instance, const char *name,
                                        cgrt_host_function function, void *user);
cgrt_status cgrt_instance_bind_captured(cgrt_instance *instance, const char *name,
                                        cgrt_stream_function function, void *user);
/* Code for an `external` kernel: a cudaKernel_t, or the address of a __global__ function. */
cgrt_status cgrt_instance_bind_kernel(cgrt_instance *instance, const char *name,
                                      const void *function);
/* What a captured function or an `external` kernel is on the host device. */
cgrt_status cgrt_instance_bind_host(cgrt_instance *instance, const char *name,
                                    cgrt_host_function function, void *user);
/* A cudaEvent_t for an `@external` event. */
cgrt_status cgrt_instance_bind_event(cgrt_instance *instance, const char *name, void *event);

/* What a kernel did to memory that its parameters do not declare (cgrt::EffectFault). */
typedef enum cgrt_effect_kind CGRT_FIXED {
  CGRT_WROTE_IN = 0,
  CGRT_WROTE_OTHER = 1,
  CGRT_LEFT_OUT = 2,
  CGRT_READ_OUT = 3
} cgrt_effect_kind;

typedef struct cgrt_effect_fault {
  cgrt_effect_kind kind;
  const char *kernel;
  const char *parameter;
  const char *buffer;
  const int64_t *element; /* of the buffer, the first that shows it */
  size_t rank;
  uint64_t elements; /* how many show it */
  const char *message;
  const char *file; /* of the launch */
  uint32_t line;
  uint32_t column;
} cgrt_effect_fault;

/* The fault's strings are valid during the call. */
typedef void (*cgrt_effect_function)(void *user, const cgrt_effect_fault *fault);

/* Runs a graph, null for "main", once and reports each fault; `launches` of kernels were checked.
 * CGRT_STOPPED, with all of that stored, where a loop ended before its condition did. */
cgrt_status cgrt_instance_check_effects(cgrt_instance *instance, const char *graph,
                                        cgrt_effect_function function, void *user,
                                        uint64_t *launches);

/* ---- executables ---- */

/* Null for the graph "main". */
cgrt_status cgrt_instance_executable(cgrt_instance *instance, const char *graph,
                                     cgrt_executable **executable);
void cgrt_executable_destroy(cgrt_executable *executable);

cgrt_status cgrt_executable_launch(cgrt_executable *executable);
/* On a cudaStream_t of the caller's. `in_order` 0: after nothing but what is on that stream. */
cgrt_status cgrt_executable_launch_on(cgrt_executable *executable, void *stream, int in_order);
cgrt_status cgrt_executable_wait(cgrt_executable *executable);
/* May be called from a signal handler. */
void cgrt_executable_stop(cgrt_executable *executable);
int cgrt_executable_is_cancellable(const cgrt_executable *executable);

typedef struct cgrt_executable_info {
  size_t nodes;
  size_t edges;
  double build_us;       /* adding the nodes took */
  double instantiate_us; /* making them executable, upload included */
  size_t timing_events;
} cgrt_executable_info;

cgrt_status cgrt_executable_get_info(const cgrt_executable *executable, cgrt_executable_info *info);
/* The name of the timing event at `index`, in the order of their declarations; "" where there is
 * none. */
const char *cgrt_executable_timing_event(const cgrt_executable *executable, size_t index);
/* Milliseconds between two `@timing` events of the last launch. */
cgrt_status cgrt_executable_elapsed(const cgrt_executable *executable, const char *begin,
                                    const char *end, double *milliseconds);

#ifdef __cplusplus
}
#endif

#undef CGRT_FIXED

/* NOLINTEND(readability-identifier-naming,modernize-*,performance-enum-size) */

#endif
