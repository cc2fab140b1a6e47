#include "options.h"

#include "usage.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <limits>
#include <set>

namespace cgrun {

namespace {

namespace cl = llvm::cl;

constexpr const char *overview =
    "cgrun: runs graphs of a .cgraph file or a compiled bundle on a GPU or on the host device\n";

constexpr const char *details = R"(
What --in puts into a buffer, elements in row-major order:
  FILE.npy       NumPy format 1.0 or 2.0 of exactly the buffer's type and shape; a name without
                 .npy at its end needs a '/'. bf16 is NumPy's '<u2' or 'V2'.
  iota           0, 1, 2 ...; integers wrap, floats round
  zeros, ones
  VALUE          a number of the buffer's type
  random[:SEED]  splitmix64, the same everywhere: floats in [0, 1), integers over their whole range

Exit status: 0 done; 1 the input has errors; 2 wrong usage; 3 the device or the machine failed.
)";

/// The options as the command line has them, registered for as long as they live.
struct RawOptions {
  cl::OptionCategory category{"cgrun options"};
  cl::list<std::string> files{cl::Positional, cl::desc("FILE(.cgraph|.cgb)"), cl::cat(category)};
  cl::list<std::string> graphs{"graph", cl::CommaSeparated, cl::value_desc("NAME[,NAME]..."),
                               cl::desc("Run these graphs in order (default: main)"),
                               cl::cat(category)};
  cl::opt<std::string> device{"device", cl::init("auto"), cl::value_desc("auto|host|cuda[:K]"),
                              cl::desc("Where to run (default: the first CUDA device, else host)"),
                              cl::cat(category)};
  cl::list<std::string> params{"set", cl::value_desc("PARAM=VALUE"),
                               cl::desc("Give a param a value"), cl::cat(category)};
  cl::list<std::string> inputs{
      "in", cl::value_desc("BUF=FILE.npy|iota|zeros|ones|VALUE|random[:SEED]"),
      cl::desc("Fill an in or inout buffer; each must be given"), cl::cat(category)};
  cl::list<std::string> outputs{
      "out", cl::value_desc("BUF=FILE.npy|-"),
      cl::desc("Write an out or inout buffer to a file, or as text to standard output"),
      cl::cat(category)};
  cl::list<std::string> defines{"D", cl::Prefix, cl::value_desc("NAME=VALUE"),
                                cl::desc("The value of a file-scope const of a .cgraph file"),
                                cl::cat(category)};
  cl::list<std::string> include_folders{
      "I", cl::Prefix, cl::value_desc("DIR"),
      cl::desc("A folder to look for a .cgraph file's imports in"), cl::cat(category)};
  cl::opt<std::string> repeat{"repeat", cl::init("1"), cl::value_desc("N"),
                              cl::desc("Launch the graphs N times without resetting memory"),
                              cl::cat(category)};
  cl::opt<std::string> seed{"seed", cl::init("0"), cl::value_desc("S"),
                            cl::desc("Seed of the host device's random order"), cl::cat(category)};
  cl::opt<bool> check_effects{
      "check-effects",
      cl::desc("Run node by node and report kernels that do not do to memory what they declare"),
      cl::cat(category)};
  cl::opt<bool> json{"json", cl::desc("Print one JSON object instead of a table"),
                     cl::cat(category)};
  cl::extrahelp help{details};
};

std::uint64_t parse_number(llvm::StringRef text, std::uint64_t least, std::uint64_t greatest,
                           const std::string &option) {
  std::uint64_t value = 0;
  if (!llvm::to_integer(text, value, 10) || value < least || value > greatest) {
    throw usage_error(option + ": '" + text.str() + "' is not a number from " +
                      std::to_string(least) + " to " + std::to_string(greatest));
  }
  return value;
}

/// Splits each text at its first '='; a name may be given once.
std::vector<Assignment> parse_assignments(const cl::list<std::string> &texts,
                                          const std::string &option, const std::string &form) {
  std::vector<Assignment> assignments;
  std::set<std::string> names;
  for (const std::string &text : texts) {
    const auto [name, value] = llvm::StringRef(text).split('=');
    if (name.empty() || value.empty()) {
      throw usage_error(option + ": '" + text + "' is not of the form " + form);
    }
    if (!names.insert(name.str()).second) {
      throw usage_error(option + ": " + name.str() + " is given twice");
    }
    assignments.push_back({name.str(), value.str()});
  }
  return assignments;
}

void parse_device(llvm::StringRef text, Options &options) {
  if (text == "auto" || text == "host") {
    options.device = text == "auto" ? DeviceKind::Auto : DeviceKind::Host;
    return;
  }
  const auto [kind, ordinal] = text.split(':');
  if (kind != "cuda" || text.back() == ':') {
    throw usage_error("--device: '" + text.str() + "' is none of auto, host, cuda and cuda:K");
  }
  options.device = DeviceKind::Cuda;
  if (!ordinal.empty()) {
    options.ordinal = static_cast<int>(
        parse_number(ordinal, 0, std::numeric_limits<int>::max(), "--device cuda"));
  }
}

/// LLVM's message is one or more lines that begin with the program's name; people need the first.
std::string first_line(llvm::StringRef messages) {
  llvm::StringRef line = messages.ltrim().split('\n').first;
  line.consume_front("cgrun: ");
  return line.str();
}

} // namespace

bool Options::writes_values_to_stdout() const {
  return std::ranges::any_of(outputs, [](const Assignment &out) { return out.value == "-"; });
}

Options parse_options(int argc, const char *const *argv) {
  RawOptions raw;
  cl::HideUnrelatedOptions(raw.category);
  cl::SetVersionPrinter([](llvm::raw_ostream &out) { out << "cgrun " CGRAPH_VERSION "\n"; });
  std::string messages;
  llvm::raw_string_ostream errors(messages);
  if (!cl::ParseCommandLineOptions(argc, argv, overview, &errors)) {
    // What LLVM checks for one option alone goes to standard error past this.
    const std::string line = first_line(errors.str());
    throw usage_error(line.empty() ? "the command line is wrong, as said above" : line);
  }
  if (raw.files.size() != 1) {
    throw usage_error(raw.files.empty() ? "no input file; try --help"
                                        : "more than one input file: " + raw.files[1]);
  }
  Options options;
  options.input = raw.files[0];
  options.graphs.assign(raw.graphs.begin(), raw.graphs.end());
  if (options.graphs.empty()) {
    options.graphs = {"main"};
  }
  options.defines.assign(raw.defines.begin(), raw.defines.end());
  options.include_folders.assign(raw.include_folders.begin(), raw.include_folders.end());
  parse_device(raw.device.getValue(), options);
  options.params = parse_assignments(raw.params, "--set", "PARAM=VALUE");
  options.inputs = parse_assignments(raw.inputs, "--in", "BUF=SOURCE");
  options.outputs = parse_assignments(raw.outputs, "--out", "BUF=FILE.npy or BUF=-");
  options.repeat = parse_number(raw.repeat.getValue(), 1, 1'000'000'000, "--repeat");
  options.seed =
      parse_number(raw.seed.getValue(), 0, std::numeric_limits<std::uint64_t>::max(), "--seed");
  options.check_effects = raw.check_effects;
  if (options.check_effects && options.repeat != 1) {
    throw usage_error("--check-effects runs each graph once; leave out --repeat");
  }
  options.json = raw.json;
  if (options.json && options.writes_values_to_stdout()) {
    throw usage_error("--json and --out BUF=- would both write to standard output");
  }
  return options;
}

} // namespace cgrun
