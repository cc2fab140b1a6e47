#include "cuda/cuda_capture.h"

#include <exception>
#include <vector>

namespace cgrt::cuda {

namespace {

/// What the function threw, in our words; null if it threw nothing.
std::exception_ptr call(const CapturedParams &params, cudaStream_t stream, const NodeLabel &label) {
  const auto failure = [&label](const std::string &why) {
    return std::make_exception_ptr(
        Error(ErrorCode::Device, label.text() + ": " + why, label.where()));
  };
  try {
    (*params.call)(stream);
  } catch (const std::exception &error) {
    return failure(error.what());
  } catch (...) {
    return failure("it threw something that is no std::exception");
  }
  return nullptr;
}

} // namespace

CapturedGraph::CapturedGraph(const Context &context, const CapturedParams &params,
                             const NodeLabel &label, bool in_body) {
  const cudaStream_t stream = context.capture_stream();
  // Only calls of this thread are watched for what a capture forbids.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture",
        label);
  const std::exception_ptr thrown = call(params, stream, label);
  const cudaError_t ended = cudaStreamEndCapture(stream, &graph_);
  try {
    if (thrown) {
      static_cast<void>(cudaGetLastError()); // the exception says more
      std::rethrow_exception(thrown);
    }
    check(ended, "cudaStreamEndCapture", label,
          "the function must put all its work on the stream it is given, and join what it forks");
    check(cudaGraphGetNodes(graph_, nullptr, &nodes_), "cudaGraphGetNodes", label);
    if (in_body) {
      require_legal_in_body(label);
    }
  } catch (...) {
    if (graph_ != nullptr) {
      check_in_destructor(cudaGraphDestroy(graph_));
    }
    throw;
  }
}

CapturedGraph::~CapturedGraph() {
  check_in_destructor(cudaGraphDestroy(graph_));
}

/// Instantiation would fail, and name nothing that the program knows.
void CapturedGraph::require_legal_in_body(const NodeLabel &label) const {
  std::vector<cudaGraphNode_t> nodes(nodes_);
  std::size_t count = nodes_;
  check(cudaGraphGetNodes(graph_, nodes.data(), &count), "cudaGraphGetNodes", label);
  for (const cudaGraphNode_t node : nodes) {
    cudaGraphNodeType type = cudaGraphNodeTypeKernel;
    check(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType", label);
    const char *what = nullptr;
    switch (type) {
    case cudaGraphNodeTypeHost:
      what = "a host function";
      break;
    case cudaGraphNodeTypeWaitEvent:
    case cudaGraphNodeTypeEventRecord:
      what = "an event";
      break;
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
      what = "an allocation";
      break;
    case cudaGraphNodeTypeConditional:
      what = "a conditional node";
      break;
    default:
      continue;
    }
    throw Error(ErrorCode::Device,
                label.text() + ": it puts " + what +
                    " on the stream, which the body of a branch or loop cannot hold",
                label.where());
  }
}

} // namespace cgrt::cuda
