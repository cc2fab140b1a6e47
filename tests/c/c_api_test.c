/* The C interface from C: every function, and what it says of mistakes.
 *
 *   c_api_test BUNDLE [host|cuda]
 *
 * Exit status: 0 all as it should be, 1 not, 77 no GPU. */
#include <cgrt/cgrt_c.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void check(int holds, const char *what, int line) {
  if (!holds) {
    fprintf(stderr, "c_api_test.c:%d: not so: %s; last error: %s\n", line, what, cgrt_last_error());
    ++failures;
  }
}
#define CHECK(condition) check((condition) != 0, #condition, __LINE__)
#define OK(call) CHECK((call) == CGRT_OK)

/* The call fails with this status, and the message has this in it. */
#define FAILS(call, status, part)                                                                  \
  do {                                                                                             \
    CHECK((call) == (status));                                                                     \
    CHECK(strstr(cgrt_last_error(), (part)) != NULL);                                              \
  } while (0)

enum { N = 10 };

typedef struct heard {
  int calls;
  int answer; /* what the callback returns */
  float first;
  int64_t n;
  size_t extent;
} heard;

static int told(void *user, const cgrt_argument *arguments, size_t count) {
  heard *to = user;
  ++to->calls;
  if (count != 2 || arguments[0].type != CGRT_F32 || arguments[0].rank != 1 ||
      arguments[1].data != NULL || arguments[1].kind != CGRT_KIND_I64) {
    return 99;
  }
  to->first = ((const float *)arguments[0].data)[0];
  to->extent = arguments[0].shape[0];
  to->n = arguments[1].value.i64;
  return to->answer;
}

static void count_up(void *user) {
  ++*(int *)user;
}

/* A fault of the kernel sneaky, which writes v although it declares it `in`. */
static void found(void *user, const cgrt_effect_fault *fault) {
  ++*(int *)user;
  CHECK(fault->kind == CGRT_WROTE_IN);
  CHECK(strcmp(fault->kernel, "sneaky") == 0 && strcmp(fault->parameter, "v") == 0);
  CHECK(strcmp(fault->buffer, "x") == 0 && fault->rank == 1 && fault->element[0] == 0);
  CHECK(strstr(fault->file, "c_api.cgraph") != NULL && fault->line != 0);
}

static cgrt_param integer(const char *name, int64_t value) {
  cgrt_param param = {name, CGRT_KIND_I64, {0}};
  param.value.i64 = value;
  return param;
}

static void test_program(const cgrt_program *program) {
  cgrt_param_info param;
  cgrt_buffer_info buffer;
  cgrt_graph_info graph;
  CHECK(cgrt_program_param_count(program) == 3);
  OK(cgrt_program_param(program, 0, &param));
  CHECK(strcmp(param.name, "n") == 0 && param.type == CGRT_I32 && param.required == 1);
  OK(cgrt_program_param(program, 1, &param));
  CHECK(param.required == 0);
  FAILS(cgrt_program_param(program, 3, &param), CGRT_USAGE, "no number 3");
  FAILS(cgrt_program_param(program, 0, NULL), CGRT_USAGE, "null");
  CHECK(cgrt_program_buffer_count(program) >= 4);
  OK(cgrt_program_buffer(program, 0, &buffer));
  CHECK(strcmp(buffer.name, "hx") == 0 && buffer.space == CGRT_HOST && buffer.access == CGRT_IN);
  CHECK(cgrt_program_graph_count(program) == 5);
  OK(cgrt_program_graph(program, 0, &graph));
  CHECK(strcmp(graph.name, "main") == 0 && graph.nodes == 3 && graph.edges == 2);
}

static void test_mistakes(const cgrt_program *program, const cgrt_device *device) {
  cgrt_program *none = NULL;
  cgrt_instance *instance = NULL;
  const cgrt_param unknown = integer("nobody", 1);
  FAILS(cgrt_program_from_file("/no/such/file", &none), CGRT_USAGE, "/no/such/file");
  FAILS(cgrt_program_from_file(NULL, &none), CGRT_USAGE, "null");
  FAILS(cgrt_program_from_bytes("rubbish", 7, NULL, &none), CGRT_INVALID_PROGRAM, "bundle");
  FAILS(cgrt_program_from_bytes(NULL, 7, NULL, &none), CGRT_USAGE, "null");
  CHECK(none == NULL);
  FAILS(cgrt_instance_create(program, device, NULL, 0, &instance), CGRT_USAGE, "param n");
  FAILS(cgrt_instance_create(program, device, &unknown, 1, &instance), CGRT_USAGE, "nobody");
  FAILS(cgrt_instance_create(NULL, device, NULL, 0, &instance), CGRT_USAGE, "null");
  CHECK(instance == NULL);
  FAILS(cgrt_executable_launch(NULL), CGRT_USAGE, "null");
  cgrt_program_destroy(NULL);
  cgrt_device_destroy(NULL);
  cgrt_instance_destroy(NULL);
  cgrt_executable_destroy(NULL);
  cgrt_executable_stop(NULL);
  CHECK(cgrt_size_of(CGRT_F64) == 8 && cgrt_size_of((cgrt_type)77) == 0);
}

/* y = a * x, heard by the callback. */
static void test_runs(cgrt_instance *instance, heard *ears) {
  float x[2 * N];
  float y[2 * N];
  void *hy = NULL;
  size_t bytes = 0;
  int i;
  cgrt_executable *graph = NULL;
  cgrt_param changes[2] = {integer("n", 2 * N), {"a", CGRT_KIND_F64, {0}}};
  cgrt_param now;
  cgrt_update_report report;
  cgrt_buffer_view view;
  for (i = 0; i < 2 * N; ++i) {
    x[i] = (float)i + 1;
  }
  FAILS(cgrt_instance_executable(instance, NULL, &graph), CGRT_USAGE, "callback told is not bound");
  OK(cgrt_instance_bind_callback(instance, "told", told, ears));
  FAILS(cgrt_instance_bind_callback(instance, "nobody", told, ears), CGRT_USAGE, "nobody");
  FAILS(cgrt_instance_bind_callback(instance, "told", NULL, ears), CGRT_USAGE, "null");
  FAILS(cgrt_instance_bind_captured(instance, "told", NULL, ears), CGRT_USAGE, "null");
  FAILS(cgrt_instance_bind_host(instance, "told", told, ears), CGRT_USAGE, "told");
  FAILS(cgrt_instance_bind_kernel(instance, "scale", NULL), CGRT_USAGE, "scale");
  FAILS(cgrt_instance_bind_event(instance, "done", NULL), CGRT_USAGE, "done");
  OK(cgrt_instance_executable(instance, NULL, &graph));
  OK(cgrt_instance_write(instance, "x", x, N * sizeof(float)));
  FAILS(cgrt_instance_write(instance, "x", x, 3), CGRT_USAGE, "3");
  OK(cgrt_executable_launch(graph));
  OK(cgrt_executable_wait(graph));
  CHECK(ears->calls == 1 && ears->first == 2 && ears->n == N && ears->extent == N);
  OK(cgrt_instance_read(instance, "y", y, N * sizeof(float)));
  CHECK(y[N - 1] == 2 * N);
  FAILS(cgrt_instance_read(instance, "y", y, 1), CGRT_USAGE, "not 1");
  OK(cgrt_instance_host(instance, "hy", &hy, &bytes));
  CHECK(bytes == N * sizeof(float) && ((float *)hy)[3] == 8);

  OK(cgrt_instance_set_f64(instance, "a", 3));
  FAILS(cgrt_instance_set_i64(instance, "n", -1), CGRT_INVALID_VALUE, "-1");
  changes[1].value.f64 = 0.5;
  OK(cgrt_instance_update(instance, changes, 2, NULL, 0, &report));
  CHECK(report.kind == CGRT_UPDATE_REBUILT); /* of the callback's arguments */
  OK(cgrt_instance_param(instance, "a", &now));
  CHECK(now.kind == CGRT_KIND_F64 && now.value.f64 == 0.5);
  OK(cgrt_instance_buffer(instance, "hy", &view));
  CHECK(view.rank == 1 && view.shape[0] == 2 * N && view.bytes == 2 * N * sizeof(float));
  OK(cgrt_instance_write(instance, "x", x, sizeof(x)));
  OK(cgrt_executable_launch_on(graph, NULL, 0));
  OK(cgrt_executable_wait(graph));
  CHECK(ears->first == 0.5 && ears->n == 2 * N);

  ears->answer = 5;
  OK(cgrt_executable_launch(graph));
  FAILS(cgrt_executable_wait(graph), CGRT_CALLBACK, "callback told: it returned 5");
  ears->answer = 0;
  OK(cgrt_executable_launch(graph));
  OK(cgrt_executable_wait(graph));
  cgrt_executable_destroy(graph);
}

static void test_memory(cgrt_instance *instance, const cgrt_program *program,
                        const cgrt_device *device) {
  /* Another instance's buffer is memory that any device takes. */
  const cgrt_param n = integer("n", 2 * N);
  cgrt_instance *other = NULL;
  cgrt_executable *graph = NULL;
  cgrt_memory memory = {"hx", CGRT_F32, NULL, 0, 0, NULL, NULL};
  cgrt_executable_info info;
  double took = -1;
  void *hy = NULL;
  int i;
  OK(cgrt_instance_create(program, device, &n, 1, &other));
  OK(cgrt_instance_host(other, "hx", &memory.data, &memory.bytes));
  for (i = 0; i < 2 * N; ++i) {
    ((float *)memory.data)[i] = (float)-i;
  }
  OK(cgrt_instance_update(instance, NULL, 0, &memory, 1, NULL));
  OK(cgrt_instance_executable(instance, "timed", &graph));
  OK(cgrt_executable_get_info(graph, &info));
  CHECK(info.nodes == 3 && info.edges == 2 && info.timing_events == 2 && info.build_us > 0);
  CHECK(strcmp(cgrt_executable_timing_event(graph, 1), "done") == 0);
  CHECK(strcmp(cgrt_executable_timing_event(graph, 2), "") == 0);
  CHECK(cgrt_executable_is_cancellable(graph) == 0);
  FAILS(cgrt_executable_elapsed(graph, "begun", "done", &took), CGRT_USAGE, "not been launched");
  OK(cgrt_executable_launch(graph));
  OK(cgrt_executable_wait(graph));
  OK(cgrt_instance_host(instance, "hy", &hy, NULL));
  CHECK(((float *)hy)[7] == -7);
  OK(cgrt_executable_elapsed(graph, "begun", "done", &took));
  CHECK(took >= 0);
  memory.type = CGRT_I64;
  FAILS(cgrt_instance_update(instance, NULL, 0, &memory, 1, NULL), CGRT_USAGE, "holds i64");
  memory.type = (cgrt_type)99;
  FAILS(cgrt_instance_update(instance, NULL, 0, &memory, 1, NULL), CGRT_USAGE, "no such type");
  OK(cgrt_instance_unbind(instance, "hx"));
  FAILS(cgrt_executable_launch(graph), CGRT_USAGE, "buffer hx has no memory");
  cgrt_executable_destroy(graph);
  cgrt_instance_destroy(other);
}

static void test_lists(const cgrt_program *program) {
  cgrt_function_info function;
  cgrt_kernel_info kernel;
  cgrt_event_info event;
  CHECK(cgrt_program_function_count(program) == 2);
  OK(cgrt_program_function(program, 1, &function));
  CHECK(strcmp(function.name, "work") == 0 && function.is_captured == 1);
  CHECK(function.parameter_count == 1 && strcmp(function.parameters[0], "v") == 0);
  CHECK(cgrt_program_external_kernel_count(program) == 1);
  OK(cgrt_program_external_kernel(program, 0, &kernel));
  CHECK(strcmp(kernel.name, "theirs") == 0 && kernel.parameter_count == 2);
  CHECK(strcmp(kernel.parameters[1], "v") == 0);
  CHECK(cgrt_program_event_count(program) == 3);
  OK(cgrt_program_event(program, 0, &event));
  CHECK(strcmp(event.name, "begun") == 0 && event.is_external == 0);
  FAILS(cgrt_program_event(program, 3, &event), CGRT_USAGE, "there are 3 of them");
  CHECK(cgrt_program_function_count(NULL) == 0);
}

/* Memory is let go once, when it is replaced, and not at all by an update that fails. */
static void test_owners(cgrt_instance *instance, const cgrt_program *program,
                        const cgrt_device *device) {
  const cgrt_param n = integer("n", 2 * N); /* as the instance has it by now */
  cgrt_instance *other = NULL;
  cgrt_memory memory = {"hx", CGRT_F32, NULL, 0, 1, count_up, NULL};
  int released = 0;
  memory.user = &released;
  OK(cgrt_instance_create(program, device, &n, 1, &other));
  OK(cgrt_instance_host(other, "hx", &memory.data, &memory.bytes));
  memory.buffer = "hy"; /* which the program writes */
  FAILS(cgrt_instance_update(instance, NULL, 0, &memory, 1, NULL), CGRT_USAGE, "is const");
  CHECK(released == 0);
  memory.buffer = "hx";
  OK(cgrt_instance_update(instance, NULL, 0, &memory, 1, NULL));
  CHECK(released == 0);
  OK(cgrt_instance_unbind(instance, "hx"));
  CHECK(released == 1);
  cgrt_instance_destroy(other);
}

static void test_effects(cgrt_instance *instance) {
  uint64_t launches = 0;
  int faults = 0;
  FAILS(cgrt_instance_check_effects(instance, "wrong", NULL, NULL, NULL), CGRT_USAGE,
        "the function is null");
  OK(cgrt_instance_check_effects(instance, "wrong", found, &faults, &launches));
  CHECK(faults == 1 && launches == 1);
}

static void test_reason(cgrt_instance *instance, heard *ears) {
  const cgrt_param n = integer("n", N - 1);
  cgrt_executable *graph = NULL;
  cgrt_update_report report;
  OK(cgrt_instance_bind_callback(instance, "told", told, ears));
  OK(cgrt_instance_executable(instance, NULL, &graph));
  OK(cgrt_instance_update(instance, &n, 1, NULL, 0, &report));
  CHECK(report.kind == CGRT_UPDATE_REBUILT && strstr(report.reason, "told") != NULL);
  cgrt_executable_destroy(graph);
}

static void test_loops(cgrt_instance *instance) {
  cgrt_executable *graph = NULL;
  OK(cgrt_instance_set_i64(instance, "most", 7));
  OK(cgrt_instance_executable(instance, "endless", &graph));
  OK(cgrt_executable_launch(graph));
  FAILS(cgrt_executable_wait(graph), CGRT_STOPPED, "after 7 iterations");
  OK(cgrt_executable_wait(graph));
  cgrt_executable_destroy(graph);
}

int main(int argc, char **argv) {
  const int on_cuda = argc == 3 && strcmp(argv[2], "cuda") == 0;
  cgrt_program *program = NULL;
  cgrt_device *device = NULL;
  cgrt_device *automatic = NULL;
  cgrt_instance *instance = NULL;
  const cgrt_param n = integer("n", N);
  heard ears = {0, 0, 0, 0, 0};
  if (argc < 2) {
    fprintf(stderr, "usage: %s BUNDLE [host|cuda]\n", argv[0]);
    return 2;
  }
  CHECK(strcmp(cgrt_last_error(), "") == 0);
  if ((on_cuda ? cgrt_device_cuda(0, &device) : cgrt_device_host(1, 0, &device)) != CGRT_OK) {
    printf("skipped: %s\n", cgrt_last_error());
    return 77;
  }
  CHECK(cgrt_device_is_cuda(device) == on_cuda);
  CHECK(strncmp(cgrt_device_name(device), on_cuda ? "cuda:0" : "host", 4) == 0);
  OK(cgrt_device_automatic(&automatic));
  CHECK((cgrt_device_why_host(automatic)[0] == 0) == cgrt_device_is_cuda(automatic));
  cgrt_device_destroy(automatic);
  OK(cgrt_program_from_file(argv[1], &program));
  test_program(program);
  test_mistakes(program, device);
  OK(cgrt_instance_create(program, device, &n, 1, &instance));
  test_runs(instance, &ears);
  test_memory(instance, program, device);
  test_loops(instance);
  test_lists(program);
  test_owners(instance, program, device);
  test_effects(instance);
  test_reason(instance, &ears);
  cgrt_program_destroy(program); /* the instance keeps what it needs */
  cgrt_device_destroy(device);
  cgrt_instance_destroy(instance);
  printf("version %s: %d failures\n", cgrt_version(), failures);
  return failures == 0 ? 0 : 1;
}
