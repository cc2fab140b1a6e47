#include "format/problems.h"

#include "format/node_kind.h"
#include "format/program.h"

#include <string>
#include <vector>

namespace cgrt::format {

namespace {

class LaunchVerifier {
public:
  LaunchVerifier(const Program &program, Problems &problems)
      : program_(program), problems_(problems), launched_in_(program.launches.size()),
        updatable_in_(program.updatables.size()) {}

  void run() {
    for (const DeviceLaunch &launch : program_.launches) {
      check(launch);
    }
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      const Graph &graph = program_.graphs[index];
      if (graph.device_launch && !graph.entry) {
        problem(graph, "only an entry graph is for device launch");
      } else if (graph.entry) {
        check(GraphId{index});
      }
    }
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      if (program_.graphs[index].entry) {
        find_updatables({index}, {index});
      }
    }
    for (std::uint32_t index = 0; index < program_.graphs.size(); ++index) {
      if (program_.graphs[index].entry) {
        check_updates({index}, {index});
      }
    }
    check_places(program_.updatables, "a node to be changed");
    check_places(program_.updates, "an update");
    for (const DeviceUpdate &update : program_.updates) {
      if (update.graph.index >= program_.graphs.size() || !program_[update.graph].entry) {
        problems_.add("the update '" + update.text + "'", "it happens in no entry graph");
      }
    }
  }

private:
  void problem(const Graph &graph, const std::string &what) {
    problems_.add("graph '" + graph.name + "'", what);
  }

  void check(const DeviceLaunch &launch) {
    const std::string where = "the launch '" + launch.text + "'";
    if (static_cast<std::uint8_t>(launch.kind) >= launch_kind_count) {
      problems_.add(where, "it is of an unknown kind");
    }
    if (launch.place.line != 0 && launch.place.file.index >= program_.files.size()) {
      problems_.add(where, "its place names no file");
    }
    if (launch.target.index >= program_.graphs.size() || !program_[launch.target].entry ||
        !program_[launch.target].device_launch) {
      problems_.add(where, "its target is no graph for device launch");
    }
  }

  template <typename Things> void check_places(const Things &things, const std::string &what) {
    for (const auto &thing : things) {
      if (thing.place.line != 0 && thing.place.file.index >= program_.files.size()) {
        problems_.add(what, "its place names no file");
      }
    }
  }

  /// In an entry graph and its bodies: CUDA takes a handle for one node, which a child graph's
  /// clones are not.
  void find_updatables(GraphId graph, GraphId entry) {
    for (const Node &node : program_[graph].nodes) {
      if (node.updatable.valid()) {
        GraphId &where = updatable_in_[node.updatable.index];
        if (where.valid()) {
          problem(program_[graph], "two nodes are changed as one");
        }
        where = entry;
      }
      if (const auto *branch = std::get_if<ConditionalWork>(&node.work)) {
        for (const GraphId body : branch->bodies) {
          find_updatables(body, entry);
        }
      }
    }
  }

  /// In the same entry graph and bodies; what is in a child is none of them.
  void check_updates(GraphId graph, GraphId entry) {
    for (const Node &node : program_[graph].nodes) {
      for (const UpdatableId updatable : updatables_of(node)) {
        if (updatable_in_[updatable.index] != entry) {
          problem(program_[graph], "a kernel changes a node that is not in it");
        }
      }
      if (const auto *child = std::get_if<ChildWork>(&node.work)) {
        refuse_in_child(child->graph);
      } else if (const auto *branch = std::get_if<ConditionalWork>(&node.work)) {
        for (const GraphId body : branch->bodies) {
          check_updates(body, entry);
        }
      }
    }
  }

  void refuse_in_child(GraphId child) {
    for_each_node_in(program_, child, [&](const Node &node) {
      if (node.updatable.valid() || !updatables_of(node).empty()) {
        problem(program_[child], "a child graph has a node that changes or is changed");
      }
    });
  }

  /// An entry graph with what is in it. A graph with conditions that launches hangs the GPU.
  void check(GraphId id) {
    const Graph &graph = program_[id];
    const std::vector<LaunchId> launches = launches_of(program_, id);
    if ((graph.device_launch || !launches.empty()) && !conditions_of(program_, id).empty()) {
      problem(graph, "it launches or is launched from the device, and has branches or loops");
    }
    if (graph.device_launch && graph.nodes.empty()) {
      problem(graph, "a graph for device launch has no node");
    }
    for_each_node_in(program_, id, [&](const Node &node) {
      if (graph.device_launch && (info(node.kind()).legal_in & DeviceLaunchGraph) == 0) {
        problem(graph, "a graph for device launch cannot hold this kind of node");
      }
    });
    for (const LaunchId launch : launches) {
      if (launched_in_[launch.index].valid()) {
        problem(graph, "another graph does the same launch");
      }
      launched_in_[launch.index] = id;
      if (program_[launch].target == id && program_[launch].kind != LaunchKind::Tail) {
        problem(graph, "it launches itself while it runs");
      }
    }
  }

  const Program &program_;
  Problems &problems_;
  std::vector<GraphId> launched_in_;  ///< the entry graph of each launch
  std::vector<GraphId> updatable_in_; ///< and of each node that kernels change
};

} // namespace

void verify_launches(const Program &program, Problems &problems) {
  LaunchVerifier(program, problems).run();
}

} // namespace cgrt::format
