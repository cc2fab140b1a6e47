// The kernels of gpu_control's graphs made by hand: first those that control.cgraph has too, then
// those that decide. Made without relocatable device code: the driver knows
// cudaGraphSetConditional, and links it when it loads them.
namespace {

// No mistake in a graph may keep a GPU busy for ever: whatever is in memory, a loop ends here.
constexpr unsigned most_iterations = 1U << 16;

// One thread calls these.
__device__ unsigned goes_on(int it, int n) {
  return it < n && static_cast<unsigned>(it) < most_iterations ? 1U : 0U;
}

} // namespace

extern "C" __global__ void put(int value, int *it) {
  if (threadIdx.x == 0)
    it[0] = value;
}

extern "C" __global__ void step(int *it) {
  if (threadIdx.x == 0)
    it[0] += 1;
}

extern "C" __global__ void add(int *x) {
  x[blockIdx.x * 256 + threadIdx.x] += 1;
}

// A loop's condition, it[0] < n.
extern "C" __global__ void set_less(cudaGraphConditionalHandle loop, int n, const int *it) {
  if (threadIdx.x == 0)
    cudaGraphSetConditional(loop, goes_on(it[0], n));
}

extern "C" __global__ void step_and_set(cudaGraphConditionalHandle loop, int n, int *it) {
  if (threadIdx.x == 0) {
    const int next = it[0] + 1;
    it[0] = next;
    cudaGraphSetConditional(loop, goes_on(next, n));
  }
}

extern "C" __global__ void step_both_and_set(cudaGraphConditionalHandle loop, int n, int *it,
                                             int *total) {
  if (threadIdx.x == 0) {
    const int next = it[0] + 1;
    it[0] = next;
    total[0] += 1;
    cudaGraphSetConditional(loop, goes_on(next, n));
  }
}

// Before an inner loop.
extern "C" __global__ void put_and_set(cudaGraphConditionalHandle loop, int n, int *it) {
  if (threadIdx.x == 0) {
    it[0] = 0;
    cudaGraphSetConditional(loop, goes_on(0, n));
  }
}

extern "C" __global__ void set_greater(cudaGraphConditionalHandle branch, int limit,
                                       const int *it) {
  if (threadIdx.x == 0)
    cudaGraphSetConditional(branch, it[0] > limit ? 1U : 0U);
}

extern "C" __global__ void set_case(cudaGraphConditionalHandle choice, const int *it) {
  if (threadIdx.x == 0)
    cudaGraphSetConditional(choice, static_cast<unsigned>(it[0]));
}
