// Two kernels of ../round_trip.cgraph.
template <typename T, int factor> __global__ void scale(int n, T *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] *= factor;
}
extern "C" __global__ void negate(int n, float *x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    x[i] = -x[i];
}
