// What a CudaGraph tells CUDA, as CUDA gives it back.
#include "cuda/cuda_graph.h"
#include "ptx_program.h"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <set>

namespace {

using cgrt::ChildParams;
using cgrt::CopyParams;
using cgrt::DeviceBackend;
using cgrt::DeviceGraph;
using cgrt::Error;
using cgrt::ErrorCode;
using cgrt::FillParams;
using cgrt::KernelParams;
using cgrt::LoadedCode;
using cgrt::Memory;
using cgrt::MemorySpace;
using cgrt::cuda::CudaGraph;
using cgrt::testing::PtxKernel;

class CudaGraphTest : public ::testing::Test {
protected:
  void SetUp() override {
    std::string why_none;
    if (cgrt::cuda_device_count(&why_none) == 0) {
      GTEST_SKIP() << why_none;
    }
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    device_ = cgrt::make_cuda_device(0);
    code_ = device_->load(cgrt::testing::ptx_program());
  }

  DeviceBackend &device() { return *device_; }

  KernelParams nothing() const {
    KernelParams params;
    params.function = &cgrt::testing::function_of(*code_, PtxKernel::Nothing);
    return params;
  }

private:
  std::unique_ptr<DeviceBackend> device_;
  std::unique_ptr<LoadedCode> code_;
};

cudaGraph_t handle(const DeviceGraph &graph) {
  return static_cast<const CudaGraph &>(graph).handle();
}

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &count), cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  EXPECT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  return nodes;
}

/// An attribute of the only node of a graph.
cudaLaunchAttributeValue attribute(const DeviceGraph &graph, cudaLaunchAttributeID id) {
  cudaLaunchAttributeValue value = {};
  EXPECT_EQ(cudaGraphKernelNodeGetAttribute(nodes_of(handle(graph)).at(0), id, &value),
            cudaSuccess);
  return value;
}

TEST_F(CudaGraphTest, PrioritiesAreTheNodes) {
  int last = 0;
  int first = 0;
  ASSERT_EQ(cudaDeviceGetStreamPriorityRange(&last, &first), cudaSuccess);
  ASSERT_LT(first, last);
  for (const auto &[wanted, given] :
       {std::pair{first, first}, {first + 1, first + 1}, {-1000, first}, {1000, last}}) {
    const std::unique_ptr<DeviceGraph> graph = device().create_graph();
    KernelParams params = nothing();
    params.priority = wanted;
    graph->add_node(params, {}, {"node", {}}, true);
    EXPECT_EQ(attribute(*graph, cudaLaunchAttributePriority).priority, given) << wanted;
    const auto executable = graph->instantiate();
    executable->launch();
    executable->wait();
  }
}

TEST_F(CudaGraphTest, ClustersAndCooperationAreTheNodes) {
  const std::unique_ptr<DeviceGraph> clustered = device().create_graph();
  KernelParams params = nothing();
  params.grid = {4, 2, 1};
  params.cluster = {2, 2, 1};
  clustered->add_node(params, {}, {"node", {}}, true);
  const cudaLaunchAttributeValue value = attribute(*clustered, cudaLaunchAttributeClusterDimension);
  EXPECT_EQ(value.clusterDim.x, 2U);
  EXPECT_EQ(value.clusterDim.y, 2U);
  EXPECT_EQ(value.clusterDim.z, 1U);

  const std::unique_ptr<DeviceGraph> cooperative = device().create_graph();
  params = nothing();
  params.cooperative = true;
  cooperative->add_node(params, {}, {"node", {}}, true);
  EXPECT_EQ(attribute(*cooperative, cudaLaunchAttributeCooperative).cooperative, 1);
}

TEST_F(CudaGraphTest, ACooperativeGridMustFitTheGpuAtOnce) {
  const std::unique_ptr<DeviceGraph> graph = device().create_graph();
  KernelParams params = nothing();
  params.cooperative = true;
  params.block = {1024, 1, 1};
  int processors = 0;
  int threads = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  ASSERT_EQ(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0),
            cudaSuccess);
  const auto most = static_cast<std::uint32_t>(processors * (threads / 1024));
  params.grid = {most, 1, 1};
  graph->add_node(params, {}, {"node", {}}, true);
  const auto executable = graph->instantiate();
  executable->launch();
  executable->wait();
  params.grid = {most + 1, 1, 1};
  try {
    graph->add_node(params, {}, {"kernel k", {"t.cgraph", 3, 1}}, true);
    ADD_FAILURE() << "no error";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ErrorCode::Device);
    const std::string text = error.what();
    EXPECT_NE(text.find("t.cgraph:3: kernel k: a cooperative grid of " + std::to_string(most + 1)),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("holds " + std::to_string(most) + " of them at once [geometry]"),
              std::string::npos)
        << text;
  }
}

/// All nodes of a graph and of what it holds.
void add_nodes_inside(cudaGraph_t graph, std::vector<cudaGraphNode_t> &all) {
  for (const cudaGraphNode_t node : nodes_of(graph)) {
    all.push_back(node);
    cudaGraphNodeType type = cudaGraphNodeTypeCount;
    ASSERT_EQ(cudaGraphNodeGetType(node, &type), cudaSuccess);
    if (type == cudaGraphNodeTypeGraph) {
      cudaGraph_t child = nullptr;
      ASSERT_EQ(cudaGraphChildGraphNodeGetGraph(node, &child), cudaSuccess);
      add_nodes_inside(child, all);
    }
  }
}

// CUDA names a node by the clone that lies deepest; its label must be found for each.
TEST_F(CudaGraphTest, NodesInsideChildrenHaveTheirLabels) {
  const std::unique_ptr<DeviceGraph> inner = device().create_graph();
  inner->add_node(nothing(), {}, {"inner a", {}}, true);
  inner->add_node(nothing(), {}, {"inner b", {}}, true);
  const std::unique_ptr<DeviceGraph> middle = device().create_graph();
  middle->add_node(ChildParams{inner.get()}, {}, {"middle child", {}}, true);
  middle->add_node(nothing(), {}, {"middle", {}}, true);
  const std::unique_ptr<DeviceGraph> outer = device().create_graph();
  outer->add_node(ChildParams{middle.get()}, {}, {"outer child", {}}, true);
  outer->add_node(ChildParams{inner.get()}, {}, {"outer inner", {}}, true);

  std::vector<cudaGraphNode_t> all;
  add_nodes_inside(handle(*outer), all);
  std::multiset<std::string> labels;
  for (const cudaGraphNode_t node : all) {
    labels.insert(static_cast<const CudaGraph &>(*outer).label_of(node).text());
  }
  EXPECT_EQ(labels,
            (std::multiset<std::string>{"inner a", "inner a", "inner b", "inner b", "middle",
                                        "middle child", "outer child", "outer inner"}));
  EXPECT_TRUE(static_cast<const CudaGraph &>(*outer).label_of(nullptr).is_nobody());
}

TEST_F(CudaGraphTest, PitchesReachTheLimitThatTheBuilderChecks) {
  constexpr std::size_t pitch = 2147483647;
  int limit = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxPitch, 0), cudaSuccess);
  EXPECT_EQ(static_cast<std::size_t>(limit), pitch);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  if (free_bytes < 3 * pitch) {
    GTEST_SKIP() << "this GPU has too little free memory";
  }
  const std::unique_ptr<Memory> large = device().allocate(MemorySpace::Device, 2 * pitch + 8);
  const std::unique_ptr<Memory> small = device().allocate(MemorySpace::Device, 3 * 8);
  const std::unique_ptr<DeviceGraph> graph = device().create_graph();
  FillParams fill{large->data(), 0x5A, 1, 8, 3, pitch};
  const std::uint32_t filled = graph->add_node(fill, {}, {"fill", {}}, true);
  CopyParams copy{small->data(), large->data(), 8, 3};
  copy.destination_rows.pitch = 8;
  copy.source_rows.pitch = pitch;
  graph->add_node(copy, std::vector{filled}, {"copy", {}}, true);
  const auto executable = graph->instantiate();
  executable->launch();
  executable->wait();
  std::vector<std::byte> bytes(24);
  device().copy(bytes.data(), small->data(), bytes.size());
  EXPECT_EQ(bytes, std::vector<std::byte>(24, std::byte{0x5A}));
}

} // namespace
