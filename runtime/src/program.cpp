#include <cgrt/cgrt.h>

#include "format/bundle.h"
#include "format/program.h"
#include "format/scalar_type.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

namespace cgrt {

namespace {

struct FileCloser {
  void operator()(std::FILE *file) const { std::fclose(file); }
};

[[noreturn]] void unreadable(const std::string &path, int code) {
  throw Error(ErrorCode::Usage,
              path + ": cannot be read: " + std::generic_category().message(code));
}

std::vector<std::byte> read_file(const std::string &path) {
  const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    unreadable(path, errno);
  }
  std::vector<std::byte> bytes;
  std::array<std::byte, std::size_t{1} << 16> chunk;
  std::size_t count = 0;
  while ((count = std::fread(chunk.data(), 1, chunk.size(), file.get())) > 0) {
    bytes.insert(bytes.end(), chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(count));
  }
  if (std::ferror(file.get()) != 0) {
    unreadable(path, errno);
  }
  return bytes;
}

std::vector<std::string> names_of(const std::vector<format::KernelParam> &params) {
  std::vector<std::string> names;
  names.reserve(params.size());
  for (const format::KernelParam &param : params) {
    names.push_back(param.name);
  }
  return names;
}

} // namespace

std::string_view spelling(ScalarType type) {
  return format::spelling(type);
}
std::size_t size_of(ScalarType type) {
  return format::size_of(type);
}

Program::Program(std::shared_ptr<const format::Program> contents)
    : contents_(std::move(contents)) {}

Program Program::from_file(const std::string &path) {
  return from_bytes(read_file(path), path);
}

Program Program::from_bytes(std::span<const std::byte> bytes, const std::string &name) {
  return Program(std::make_shared<const format::Program>(format::decode_bundle(bytes, name)));
}

std::vector<ParamInfo> Program::params() const {
  std::vector<ParamInfo> infos;
  for (const format::Param &param : contents_->params) {
    infos.push_back({param.name, param.type, !param.default_value.valid()});
  }
  return infos;
}

std::vector<BufferInfo> Program::buffers() const {
  std::vector<BufferInfo> infos;
  for (const format::Buffer &buffer : contents_->buffers) {
    infos.push_back({buffer.name, buffer.type, buffer.space, buffer.access});
  }
  return infos;
}

std::vector<FunctionInfo> Program::functions() const {
  std::vector<FunctionInfo> infos;
  for (const format::Callable &callable : contents_->callables) {
    infos.push_back({callable.name, callable.kind == format::CallableKind::Captured,
                     names_of(callable.params)});
  }
  return infos;
}

std::vector<KernelInfo> Program::external_kernels() const {
  std::vector<KernelInfo> infos;
  for (const format::Kernel &kernel : contents_->kernels) {
    if (kernel.external) {
      infos.push_back({kernel.name, names_of(kernel.params)});
    }
  }
  return infos;
}

std::vector<EventInfo> Program::events() const {
  std::vector<EventInfo> infos;
  for (const format::Event &event : contents_->events) {
    infos.push_back({event.name, event.external});
  }
  return infos;
}

std::vector<GraphInfo> Program::graphs() const {
  std::vector<GraphInfo> infos;
  for (const format::Graph &graph : contents_->graphs) {
    if (graph.entry) {
      infos.push_back({graph.name, graph.nodes.size(), graph.edge_count(), graph.device_launch});
    }
  }
  return infos;
}

} // namespace cgrt
