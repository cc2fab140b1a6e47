
// The body of the kernels that fill a box of elements which lie at three strides:
// fill_strided_T(n0, n1, n2, s0, s1, s2: i64, value: T, destination: out T[box])
const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
if (i < n0 * n1 * n2) {
  destination[i / (n1 * n2) * s0 + i / n2 % n1 * s1 + i % n2 * s2] = value;
}
