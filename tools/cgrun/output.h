// Where `--out BUF=FILE.npy` puts a buffer.
#pragma once

#include <cgrt/cgrt.h>

#include <llvm/Support/FileSystem.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace cgrun {

/// A file that is there whole or not at all: written to a temporary in its own folder, then
/// renamed. The temporary goes when the object does, and when a signal ends the program.
class OutputFile {
public:
  /// Makes the temporary, so that a place nothing can be written to is known before anything runs.
  /// Throws Error{Usage} with the reason.
  OutputFile(const std::string &buffer, const std::string &path);
  OutputFile(OutputFile &&other) noexcept;
  OutputFile &operator=(OutputFile &&) = delete;
  ~OutputFile();

  const std::string &buffer() const { return buffer_; }
  const std::string &target() const { return target_; }

  /// Writes a `.npy` file. Throws Error{Device} when the machine cannot take it.
  void write(const cgrt::BufferView &view, std::span<const std::byte> bytes);
  /// Puts the file where it belongs. Throws Error{Device}.
  void commit();

private:
  std::string buffer_;
  std::string target_; ///< with symbolic links followed
  std::optional<llvm::sys::fs::TempFile> temporary_;
};

/// Writes a buffer for people: `# NAME TYPE[SHAPE]`, then the elements, one a line when there is
/// one dimension, else one innermost row a line. numpy.loadtxt reads it.
void print_values(llvm::raw_ostream &out, const std::string &name, const cgrt::BufferView &view,
                  std::span<const std::byte> bytes);

} // namespace cgrun
