#include "run.h"

#include "callbacks.h"
#include "effects.h"
#include "errors.h"
#include "input.h"
#include "output.h"
#include "program_loader.h"
#include "progress.h"
#include "report.h"
#include "scalar_text.h"
#include "stop_on_interrupt.h"
#include "stopwatch.h"
#include "usage.h"

#include "format/sha256.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace cgrun {

namespace {

using cgrt::BufferInfo;
using cgrt::CallerAccess;

bool caller_fills(CallerAccess access) {
  return access == CallerAccess::In || access == CallerAccess::InOut;
}

bool caller_reads(CallerAccess access) {
  return access == CallerAccess::Out || access == CallerAccess::InOut;
}

template <typename Range> std::string names_of(const Range &range) {
  std::string names;
  for (const auto &item : range) {
    names += (names.empty() ? "" : ", ") + item.name;
  }
  return names.empty() ? "none" : names;
}

/// An option must name a buffer with which the caller may do what the option wants.
void check_buffer(const std::vector<BufferInfo> &buffers, const std::string &option,
                  const std::string &name, bool (*allowed)(CallerAccess)) {
  std::vector<BufferInfo> candidates;
  llvm::copy_if(buffers, std::back_inserter(candidates),
                [allowed](const BufferInfo &buffer) { return allowed(buffer.access); });
  const auto is_named = [&name](const BufferInfo &buffer) { return buffer.name == name; };
  if (llvm::any_of(candidates, is_named)) {
    return;
  }
  const std::string problem =
      llvm::any_of(buffers, is_named)
          ? " is not one that the caller " + std::string(option == "--in" ? "fills" : "reads")
          : " is not a buffer of this program";
  throw usage_error(option + ": " + name + problem + "; " + option +
                    " takes: " + names_of(candidates));
}

void check_buffers(const std::vector<BufferInfo> &buffers, const std::vector<Input> &inputs,
                   const Options &options) {
  for (const Input &input : inputs) {
    check_buffer(buffers, "--in", input.buffer(), caller_fills);
  }
  for (const Assignment &output : options.outputs) {
    check_buffer(buffers, "--out", output.name, caller_reads);
  }
  std::vector<BufferInfo> missing;
  llvm::copy_if(buffers, std::back_inserter(missing), [&inputs](const BufferInfo &buffer) {
    return caller_fills(buffer.access) && llvm::none_of(inputs, [&buffer](const Input &input) {
             return input.buffer() == buffer.name;
           });
  });
  if (!missing.empty()) {
    throw usage_error("no contents for " + names_of(missing) + "; give each with --in " +
                      missing.front().name + "=FILE.npy|iota|zeros|ones|VALUE|random");
  }
}

std::map<std::string, cgrt::Scalar> parse_params(const cgrt::Program &program,
                                                 const Options &options) {
  const std::vector<cgrt::ParamInfo> params = program.params();
  std::map<std::string, cgrt::Scalar> values;
  for (const auto &[name, text] : options.params) {
    const auto param =
        llvm::find_if(params, [&name = name](const auto &info) { return info.name == name; });
    if (param == params.end()) {
      throw usage_error("--set: this program has no param '" + name +
                        "'; it has: " + names_of(params));
    }
    values[name] = parse_scalar(param->type, text, "--set " + name);
  }
  return values;
}

std::vector<OutputFile> open_outputs(const Options &options) {
  std::vector<OutputFile> files;
  for (const auto &[buffer, path] : options.outputs) {
    if (path == "-") {
      continue;
    }
    files.emplace_back(buffer, path);
    const auto same = [&files](const OutputFile &file) {
      return file.target() == files.back().target();
    };
    if (std::any_of(files.begin(), files.end() - 1, same)) {
      throw usage_error("--out: two buffers go to " + path);
    }
  }
  return files;
}

std::vector<cgrt::Executable> build(cgrt::Instance &instance, const Options &options,
                                    Report &report) {
  std::vector<cgrt::Executable> graphs;
  for (const std::string &name : options.graphs) {
    const cgrt::Executable &graph = graphs.emplace_back(instance.executable(name));
    report.nodes += graph.node_count();
    report.edges += graph.edge_count();
    report.times.build += graph.times().build_us;
    report.times.instantiate += graph.times().instantiate_us;
  }
  return graphs;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Waits for the graphs; the reports of loops that ended before their conditions did.
std::vector<cgrt::Error> wait(std::span<cgrt::Executable> graphs) {
  std::vector<cgrt::Error> reports;
  for (cgrt::Executable &graph : graphs) {
    try {
      graph.wait();
    } catch (const cgrt::Error &error) {
      if (error.code() != cgrt::ErrorCode::Stopped) {
        throw;
      }
      reports.push_back(error);
    }
  }
  return reports;
}

/// Launches the graphs in order, `repeat` times, and waits each time, until a loop has been ended
/// or Ctrl-C asks for the end. Returns the exit status; `report` gets times and the launches made.
int launch(std::vector<cgrt::Executable> &graphs, std::uint64_t repeat, Progress &progress,
           Report &report) {
  // Enough for a median; a run of any length keeps its memory.
  constexpr std::size_t max_samples = 1'000'000;
  std::vector<double> launch_us, total_us;
  int status = 0;
  const StopOnInterrupt interrupt(graphs);
  for (std::uint64_t i = 0; i < repeat; ++i) {
    const Stopwatch watch;
    std::size_t begun = 0;
    for (; begun < graphs.size() && !StopOnInterrupt::interrupted(); ++begun) {
      graphs[begun].launch();
    }
    const double launched = watch.microseconds();
    const std::vector<cgrt::Error> reports = wait(std::span(graphs).first(begun));
    report.launches = i + 1;
    if (launch_us.size() < max_samples) {
      launch_us.push_back(launched);
      total_us.push_back(watch.microseconds());
    }
    progress.step();
    for (const cgrt::Error &error : reports) {
      progress.end();
      print_error(error);
      status = status_of(error.code());
    }
    if (StopOnInterrupt::interrupted()) {
      status = interrupted_status;
    }
    if (status != 0) {
      break;
    }
  }
  report.times.launch = median(std::move(launch_us));
  report.times.total = median(std::move(total_us));
  return status;
}

/// Two graphs may have events of one name; a graph that has run before has said its own.
void add_events(const std::vector<cgrt::Executable> &graphs, const std::vector<std::string> &names,
                Report &report) {
  std::set<std::string> seen, taken;
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    const std::vector<std::string> events =
        seen.insert(names[i]).second ? graphs[i].timing_events() : std::vector<std::string>{};
    for (const std::string &event : events) {
      const std::string name = taken.insert(event).second ? event : names[i] + "." + event;
      report.events.push_back({name, graphs[i].elapsed(events.front(), event)});
    }
  }
}

int build_and_launch(cgrt::Instance &instance, const Options &options, Progress &progress,
                     Report &report) {
  progress.begin("building " + report.graph);
  std::vector<cgrt::Executable> graphs = build(instance, options, report);
  progress.begin("launching " + report.graph, options.repeat);
  const int status = launch(graphs, options.repeat, progress, report);
  if (status == 0) {
    add_events(graphs, options.graphs, report);
  }
  return status;
}

/// Contents by buffer name.
using Contents = std::map<std::string, std::vector<std::byte>>;

/// Reads and sums up every buffer that the caller may read.
Contents read_outputs(const cgrt::Program &program, const cgrt::Instance &instance,
                      Report &report) {
  Contents contents;
  for (const BufferInfo &buffer : program.buffers()) {
    if (caller_reads(buffer.access)) {
      const std::vector<std::byte> &bytes = contents[buffer.name] = instance.read(buffer.name);
      report.outputs.push_back({buffer.name, instance.buffer(buffer.name),
                                statistics(buffer.type, bytes),
                                cgrt::format::hex(cgrt::format::sha256(bytes))});
    }
  }
  return contents;
}

/// Writes the files, puts them in place together, and prints the values wanted as text.
void deliver(const Contents &contents, const cgrt::Instance &instance, const Options &options,
             std::vector<OutputFile> &files) {
  for (OutputFile &file : files) {
    file.write(instance.buffer(file.buffer()), contents.at(file.buffer()));
  }
  for (OutputFile &file : files) {
    file.commit();
  }
  for (const auto &[buffer, path] : options.outputs) {
    if (path == "-") {
      print_values(llvm::outs(), buffer, instance.buffer(buffer), contents.at(buffer));
    }
  }
}

void print_report(const Report &report, const Options &options) {
  if (options.json) {
    print_json(llvm::outs(), report);
  } else {
    print_table(options.writes_values_to_stdout() ? llvm::errs() : llvm::outs(), report);
  }
  llvm::outs().flush();
  if (llvm::outs().has_error()) {
    const std::string reason = llvm::outs().error().message();
    llvm::outs().clear_error();
    throw cgrt::Error(cgrt::ErrorCode::Device, "cannot write to standard output: " + reason);
  }
}

} // namespace

int run(const Options &options) {
  std::vector<Input> inputs;
  for (const Assignment &input : options.inputs) {
    inputs.emplace_back(input);
  }
  std::vector<OutputFile> files = open_outputs(options);
  Progress progress;
  const auto [status, loaded] = load_program(options, progress);
  if (!loaded) {
    return status;
  }
  const cgrt::Program &program = loaded->program;
  check_buffers(program.buffers(), inputs, options);

  Report report;
  report.device = loaded->device.name();
  report.graph = llvm::join(options.graphs, ",");
  report.launches = options.repeat;
  report.times.compile = loaded->compile_us;

  progress.begin("loading " + options.input);
  const Stopwatch load_watch;
  cgrt::Instance instance(program, loaded->device, parse_params(program, options));
  report.times.load = loaded->load_us + load_watch.microseconds();
  bind_printers(program, instance,
                options.json || options.writes_values_to_stdout() ? stderr : stdout);
  for (const Input &input : inputs) {
    instance.write(input.buffer(), input.contents(instance.buffer(input.buffer())));
  }

  const int ran = options.check_effects
                      ? check_effects(program, instance, options, progress, report)
                      : build_and_launch(instance, options, progress, report);
  progress.begin("reading the outputs");
  const Contents contents = read_outputs(program, instance, report);
  progress.end();
  deliver(contents, instance, options, files);
  print_report(report, options);
  return ran;
}

} // namespace cgrun
