#include "kernel_check.h"

#include <algorithm>
#include <cstring>

namespace cgrt {

namespace {

/// Results that still are the same after so many more runs are held to be so always.
constexpr int further_runs = 7;

/// Calls `visit(first, count)` for each row of neighbours in the box.
template <typename Visit> void for_each_row(const Box &box, Visit &&visit) {
  if (box.empty()) {
    return;
  }
  const Loops loops(box);
  const std::span<const Loop> all = loops.all();
  std::array<std::int64_t, format::max_dimensions + 1> at{};
  std::int64_t first = box.first();
  std::size_t level = 0;
  while (level < all.size()) {
    visit(static_cast<std::size_t>(first), static_cast<std::size_t>(all[0].count));
    for (level = 1; level < all.size(); ++level) {
      first += all[level].stride[0];
      if (++at[level] < all[level].count) {
        break;
      }
      first -= at[level] * all[level].stride[0];
      at[level] = 0;
    }
  }
}

bool contains(const Box &box, std::span<const std::int64_t> element) {
  for (std::size_t axis = 0; axis < box.rank; ++axis) {
    if (element[axis] < box.begin[axis] || element[axis] >= box.begin[axis] + box.count[axis]) {
      return false;
    }
  }
  return true;
}

} // namespace

KernelCheck::KernelCheck(const format::Program &program, const GraphBuilder &builder,
                         const format::Node &node, WatchedMemory &memory)
    : program_(program), kernel_(program[std::get<format::KernelWork>(node.work).kernel]),
      memory_(memory), label_(program, node) {
  const auto &work = std::get<format::KernelWork>(node.work);
  for (std::size_t i = 0; i < work.arguments.size(); ++i) {
    const auto *region = std::get_if<format::Region>(&work.arguments[i]);
    if (region != nullptr && !memory.held(region->buffer).empty()) {
      arguments_.push_back(
          {i, region->buffer, kernel_.params[i].mode, builder.box(*region, label_)});
    }
  }
  add_uses();
}

void KernelCheck::add_uses() {
  for (const Argument &argument : arguments_) {
    Use &use = uses_[argument.buffer];
    use.resize(memory_.held(argument.buffer).size() /
               format::size_of(program_[argument.buffer].type));
    const std::uint8_t added = argument.mode == format::Mode::In    ? Reads
                               : argument.mode == format::Mode::Out ? Writes | MustWrite
                                                                    : Reads | Writes;
    for_each_row(argument.box, [&](std::size_t first, std::size_t count) {
      for (std::size_t i = first; i < first + count; ++i) {
        use[i] = static_cast<std::uint8_t>(use[i] | added);
      }
    });
  }
  for (const auto &[buffer, use] : uses_) {
    has_outs_ = has_outs_ ||
                std::ranges::any_of(use, [](std::uint8_t element) { return is_replaced(element); });
  }
}

std::vector<EffectFault> KernelCheck::run(DeviceExecutable &launch) {
  launch.launch();
  launch.wait();
  Contents after = memory_.read_all();
  for (const format::BufferId buffer : memory_.buffers()) {
    if (uses_.contains(buffer) || after[buffer.index] != memory_.held(buffer)) {
      touched_.push_back(buffer);
    }
  }
  find_undeclared_writes(after);
  if (has_outs_) {
    find_reads(launch, after);
    for (const format::BufferId buffer : touched_) {
      memory_.write(buffer, after[buffer.index]);
    }
  }
  memory_.hold(std::move(after));
  std::vector<EffectFault> faults;
  for (const auto &[key, evidence] : found_) {
    faults.push_back(fault(key.first, key.second, evidence));
  }
  return faults;
}

void KernelCheck::find_undeclared_writes(const Contents &after) {
  for (const format::BufferId buffer : touched_) {
    const Bytes &held = memory_.held(buffer);
    const Bytes &now = after[buffer.index];
    if (held == now) {
      continue;
    }
    const auto given = uses_.find(buffer);
    const std::size_t size = format::size_of(program_[buffer].type);
    for (std::size_t i = 0; i < held.size() / size; ++i) {
      const std::uint8_t use = given == uses_.end() ? 0 : given->second[i];
      if ((use & Writes) == 0 && std::memcmp(&held[i * size], &now[i * size], size) != 0) {
        add((use & Reads) != 0 ? EffectFault::Kind::WroteIn : EffectFault::Kind::WroteOther,
            {buffer, i});
      }
    }
  }
}

void KernelCheck::find_reads(DeviceExecutable &launch, const Contents &after) {
  const Results results = {after, run_again(launch, Before::Low), run_again(launch, Before::High),
                           run_again(launch, Before::Zero)};
  const auto &[as_it_was, low, high, zero] = results;
  std::vector<Element> suspects;
  for (const auto &[buffer, use] : uses_) {
    for (std::size_t i = 0; i < use.size(); ++i) {
      const Element element = {buffer, i};
      if (is_replaced(use[i]) && is_pattern(low, Before::Low, element) &&
          is_pattern(high, Before::High, element)) {
        add(EffectFault::Kind::LeftOut, element);
      } else if ((use[i] & Writes) != 0 && !(same(low, high, element) && same(low, zero, element) &&
                                             same(low, as_it_was, element))) {
        suspects.push_back(element);
      }
    }
  }
  keep_steady(suspects, launch, results);
  for (const Element &suspect : suspects) {
    add(EffectFault::Kind::ReadOut, suspect);
  }
}

void KernelCheck::keep_steady(std::vector<Element> &suspects, DeviceExecutable &launch,
                              const Results &results) {
  for (int round = 0; round < further_runs; ++round) {
    for (const Before before : {Before::AsItWas, Before::Low, Before::High, Before::Zero}) {
      if (suspects.empty()) {
        return;
      }
      const Contents again = run_again(launch, before);
      std::erase_if(suspects, [&](const Element &element) {
        return !same(again, results[static_cast<std::size_t>(before)], element);
      });
    }
  }
}

Contents KernelCheck::run_again(DeviceExecutable &launch, Before before) {
  for (const format::BufferId buffer : touched_) {
    Bytes contents = memory_.held(buffer);
    const auto given = uses_.find(buffer);
    if (before != Before::AsItWas && given != uses_.end()) {
      const std::size_t size = format::size_of(program_[buffer].type);
      for (std::size_t i = 0; i < given->second.size(); ++i) {
        if (is_replaced(given->second[i])) {
          const std::uint64_t replacement = pattern(before, {buffer, i});
          std::memcpy(&contents[i * size], &replacement, size);
        }
      }
    }
    memory_.write(buffer, contents);
  }
  try {
    launch.launch();
    launch.wait();
  } catch (const Error &error) {
    // A GPU's faults name no node.
    const bool has_place = error.where().line != 0;
    throw Error(error.code(),
                (has_place ? "" : label_.text() + ": ") + error.message() +
                    " (only with other values in " + outs() +
                    ", which it declares out: so it reads what was there)",
                has_place ? error.where() : label_.where());
  }
  Contents results(program_.buffers.size());
  for (const format::BufferId buffer : touched_) {
    results[buffer.index] = memory_.read(buffer);
  }
  return results;
}

bool KernelCheck::same(const Contents &a, const Contents &b, const Element &element) const {
  const std::size_t size = format::size_of(program_[element.buffer].type);
  const std::size_t first = element.index * size;
  return std::memcmp(&a[element.buffer.index][first], &b[element.buffer.index][first], size) == 0;
}

bool KernelCheck::is_pattern(const Contents &contents, Before before,
                             const Element &element) const {
  const std::size_t size = format::size_of(program_[element.buffer].type);
  const std::uint64_t wanted = pattern(before, element);
  return std::memcmp(&contents[element.buffer.index][element.index * size], &wanted, size) == 0;
}

/// As floats about -6 and 1e20, so that sums, least and greatest of them and other values show. The
/// lower half of an element's bits tells it from others.
std::uint64_t KernelCheck::pattern(Before before, const Element &element) const {
  if (before == Before::Zero) {
    return 0;
  }
  const std::uint64_t mixed = (element.index + 1) * 0x9E3779B97F4A7C15U;
  const ScalarType type = program_[element.buffer].type;
  if (type == ScalarType::Bool) {
    return (mixed >> 63U) ^ (before == Before::Low ? 0U : 1U);
  }
  const std::uint64_t bytes = before == Before::Low ? 0xC0C0C0C0C0C0C0C0U : 0x6161616161616161U;
  return bytes ^ (mixed >> (64U - 4U * format::size_of(type)));
}

void KernelCheck::add(EffectFault::Kind kind, const Element &element) {
  Evidence &evidence = found_[{kind, argument(kind, element)}];
  if (evidence.count++ == 0) {
    evidence.first = element;
  }
}

/// Whose element it is; null for WroteOther.
const KernelCheck::Argument *KernelCheck::argument(EffectFault::Kind kind,
                                                   const Element &element) const {
  if (kind == EffectFault::Kind::WroteOther) {
    return nullptr;
  }
  const std::vector<std::int64_t> at = coordinates(element);
  const auto found = std::ranges::find_if(arguments_, [&](const Argument &argument) {
    const bool fits = kind == EffectFault::Kind::WroteIn   ? argument.mode == format::Mode::In
                      : kind == EffectFault::Kind::LeftOut ? argument.mode == format::Mode::Out
                                                           : argument.mode != format::Mode::In;
    return fits && argument.buffer == element.buffer && contains(argument.box, at);
  });
  return &*found;
}

std::vector<std::int64_t> KernelCheck::coordinates(const Element &element) const {
  std::vector<std::int64_t> at = memory_.placed(element.buffer).extents;
  std::size_t rest = element.index;
  for (std::size_t axis = at.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(at[axis]);
    at[axis] = static_cast<std::int64_t>(rest % extent);
    rest /= extent;
  }
  return at;
}

/// "y, z"
std::string KernelCheck::outs() const {
  std::string names;
  for (const Argument &argument : arguments_) {
    if (argument.mode == format::Mode::Out) {
      names += (names.empty() ? "" : ", ") + kernel_.params[argument.param].name;
    }
  }
  return names;
}

EffectFault KernelCheck::fault(EffectFault::Kind kind, const Argument *argument,
                               const Evidence &evidence) const {
  EffectFault fault;
  fault.kind = kind;
  fault.kernel = kernel_.name;
  fault.parameter = argument != nullptr ? kernel_.params[argument->param].name : "";
  fault.buffer = program_[evidence.first.buffer].name;
  fault.element = coordinates(evidence.first);
  fault.elements = evidence.count;
  fault.where = label_.where();

  std::string element = fault.buffer;
  for (std::size_t axis = 0; axis < fault.element.size(); ++axis) {
    element += (axis == 0 ? "[" : ", ") + std::to_string(fault.element[axis]);
  }
  element += "]";
  if (fault.elements > 1) {
    element += " and " + std::to_string(fault.elements - 1) + " more";
  }
  switch (kind) {
  case EffectFault::Kind::WroteIn:
    fault.message =
        label_.text() + " wrote " + element + ", but declares " + fault.parameter + " in";
    break;
  case EffectFault::Kind::WroteOther:
    fault.message = label_.text() + " wrote " + element + ", which it is not given";
    break;
  case EffectFault::Kind::LeftOut:
    fault.message =
        label_.text() + " did not write " + element + ", but declares " + fault.parameter + " out";
    break;
  case EffectFault::Kind::ReadOut:
    fault.message = "what " + label_.text() + " wrote to " + element + " depends on what " +
                    outs() + " held before, but it declares " + outs() + " out";
    break;
  }
  return fault;
}

} // namespace cgrt
