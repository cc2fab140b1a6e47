#include "callbacks.h"

#include "elements.h"
#include "scalar_text.h"

#include <span>
#include <string>

namespace cgrun {

namespace {

template <typename T> std::string value_text(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_floating_point_v<T>) {
    return scalar_text(value);
  } else {
    return std::to_string(value);
  }
}

std::string text_of(const cgrt::CallBuffer &buffer) {
  constexpr std::size_t most = 8;
  const std::size_t shown = std::min(buffer.elements(), most);
  std::string text;
  for_each_element(buffer.type, {buffer.data, shown * cgrt::size_of(buffer.type)},
                   [&](auto value) { text += (text.empty() ? "" : ", ") + value_text(value); });
  return "[" + text + (shown < buffer.elements() ? ", …]" : "]");
}

std::string text_of(const cgrt::CallArgument &argument) {
  if (const auto *scalar = std::get_if<cgrt::Scalar>(&argument)) {
    return std::visit([](auto value) { return value_text(value); }, *scalar);
  }
  return text_of(std::get<cgrt::CallBuffer>(argument));
}

} // namespace

void bind_printers(const cgrt::Program &program, cgrt::Instance &instance, std::FILE *out) {
  for (const cgrt::FunctionInfo &function : program.functions()) {
    if (function.is_captured) {
      continue;
    }
    instance.bind_any_callback(function.name, [function, out](cgrt::CallArguments arguments) {
      std::string line = function.name + "(";
      for (std::size_t i = 0; i < arguments.size(); ++i) {
        line += (i == 0 ? "" : ", ") + function.parameters[i] + " = " + text_of(arguments[i]);
      }
      line += ")\n";
      static_cast<void>(std::fwrite(line.data(), 1, line.size(), out));
      static_cast<void>(std::fflush(out));
    });
  }
}

} // namespace cgrun
