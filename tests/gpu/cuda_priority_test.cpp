// From `@priority(…) stream` in the text to the attribute of CUDA's node.
#include "cuda/cuda_graph.h"
#include "example.h"
#include "graph_builder.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

namespace cgrt::cuda {
namespace {

TEST(CudaPriority, ThatOfAStreamIsItsKernels) {
  if (cuda_device_count() == 0) {
    GTEST_SKIP() << "there is no GPU";
  }
  const std::optional<Program> program = testing::example("priorities");
  if (!program) {
    GTEST_SKIP() << "kernels cannot be compiled here";
  }
  const std::unique_ptr<DeviceBackend> device = make_cuda_device(0);
  const std::unique_ptr<LoadedCode> code = device->load(program->contents());
  const Parameters parameters(program->contents(), {{"n", std::int64_t{1000}}});
  std::vector<std::unique_ptr<Memory>> memory;
  std::vector<PlacedBuffer> placed;
  for (std::size_t i = 0; i < program->contents().buffers.size(); ++i) {
    memory.push_back(device->allocate(MemorySpace::Device, 4000));
    placed.push_back({memory.back()->data(), {1000}});
  }
  const std::unique_ptr<Memory> placeholder =
      device->allocate(MemorySpace::Device, GraphBuilder::placeholder_bytes);
  const GraphBuilder builder(program->contents(), parameters, placed, *code, {},
                             placeholder->data());
  const BuiltGraphs built = builder.build({0}, [&device] { return device->create_graph(); });

  // CUDA lists nodes in the order in which they were added.
  const auto &graph = static_cast<const CudaGraph &>(*built.owned.back());
  const std::vector<format::Node> &nodes = program->contents().graphs[0].nodes;
  std::vector<cudaGraphNode_t> handles(nodes.size());
  std::size_t count = handles.size();
  ASSERT_EQ(cudaGraphGetNodes(graph.handle(), handles.data(), &count), cudaSuccess);
  ASSERT_EQ(count, nodes.size());
  std::map<std::string, std::pair<int, int>> of_streams; // the least and the greatest
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].kind() != format::NodeKind::Kernel) {
      continue;
    }
    cudaLaunchAttributeValue value = {};
    ASSERT_EQ(cudaGraphKernelNodeGetAttribute(handles[i], cudaLaunchAttributePriority, &value),
              cudaSuccess);
    auto &[least, greatest] =
        of_streams.emplace(nodes[i].stream, std::pair(value.priority, value.priority))
            .first->second;
    least = std::min(least, value.priority);
    greatest = std::max(greatest, value.priority);
  }
  int last = 0;
  int first = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&last, &first), cudaSuccess);
  const int wanted = std::max(-5, first); // the example's, as far as the GPU has it
  EXPECT_EQ(of_streams.at("first"), std::pair(wanted, wanted));
  EXPECT_EQ(of_streams.at("later"), std::pair(0, 0));
}

} // namespace
} // namespace cgrt::cuda
