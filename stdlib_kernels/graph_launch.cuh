// Device graph launch and device node update, which NVRTC itself declares for relocatable device
// code alone. The driver finds the functions when it loads the module.
extern "C" __device__ cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
extern "C" __device__ cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node,
                                                                bool enable);
extern "C" __device__ cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node,
                                                                dim3 grid);
extern "C" __device__ cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node,
                                                              size_t offset, const void *value,
                                                              size_t size);
#define cudaStreamGraphTailLaunch ((cudaStream_t)0x0100000000000000)
#define cudaStreamGraphFireAndForget ((cudaStream_t)0x0200000000000000)
#define cudaStreamGraphFireAndForgetAsSibling ((cudaStream_t)0x0300000000000000)
#define CG_SET_ARGUMENT(node, number, offset, value)                                               \
  cudaGraphKernelNodeSetParam(node, offset, &(value), sizeof(value))
static __device__ inline cudaGraphExec_t cudaGetCurrentGraphExec() {
  unsigned long long executable;
  asm("mov.u64 %0, %%current_graph_exec;" : "=l"(executable));
  return (cudaGraphExec_t)executable;
}
