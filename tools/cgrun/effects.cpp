#include "effects.h"

#include "errors.h"
#include "stopwatch.h"

#include <string>
#include <utility>

namespace cgrun {

int check_effects(const cgrt::Program &program, cgrt::Instance &instance, const Options &options,
                  Progress &progress, Report &report) {
  int status = 0;
  EffectSummary &summary = report.effects.emplace();
  const Stopwatch watch;
  progress.begin("checking " + report.graph, options.graphs.size());
  for (const std::string &name : options.graphs) {
    cgrt::EffectReport found = instance.check_effects(name);
    for (const cgrt::GraphInfo &graph : program.graphs()) {
      report.nodes += graph.name == name ? graph.nodes : 0;
      report.edges += graph.name == name ? graph.edges : 0;
    }
    progress.step();
    summary.kernels += found.launches;
    for (cgrt::EffectFault &fault : found.faults) {
      summary.faults.push_back(std::move(fault));
    }
    if (found.stopped) {
      progress.end();
      print_error(*found.stopped);
      status = status_of(found.stopped->code());
      break;
    }
  }
  report.times.total = watch.microseconds();
  progress.end();
  for (const cgrt::EffectFault &fault : summary.faults) {
    print_error(fault.where, fault.message);
  }
  return summary.faults.empty() ? status : 1;
}

} // namespace cgrun
