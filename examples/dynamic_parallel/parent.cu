// The kernel of dynamic_parallel.cgraph that launches others. It needs nvcc, with relocatable
// device code and cudadevrt, which cgc's own compiler does without:
//
//   nvcc -arch=sm_90 -rdc=true -dc parent.cu -o parent.o
//   nvcc -arch=sm_90 -dlink -cubin parent.o -lcudadevrt -o parent.cubin

__global__ void child(int row, int begin, int end, int *y) {
  const int i = begin + blockIdx.x * blockDim.x + threadIdx.x;
  if (i < end) {
    y[i] = 31 * row + i;
  }
}

/// A thread for each row, which launches as many blocks as its row is long.
extern "C" __global__ void parent(int rows, int, const int *begin, int *y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows && begin[row] < begin[row + 1]) {
    const int length = begin[row + 1] - begin[row];
    child<<<(length + 127) / 128, 128>>>(row, begin[row], begin[row + 1], y);
  }
}
