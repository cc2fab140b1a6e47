
  // The body of the kernels that fill elements wider than a memset node takes:
  // fill_T(n: i64, value: T, destination: out T[n])
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) destination[i] = value;
