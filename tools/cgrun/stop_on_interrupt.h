// Ctrl-C while graphs run that can be asked to stop.
#pragma once

#include <cgrt/cgrt.h>

#include <span>

#include <signal.h>

namespace cgrun {

/// While it lives, the first SIGINT asks the graphs' loops to end; a second one ends the program,
/// as the first does where no graph is `@cancellable`. One at a time.
class StopOnInterrupt {
public:
  explicit StopOnInterrupt(std::span<cgrt::Executable> graphs);
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt &) = delete;
  StopOnInterrupt &operator=(const StopOnInterrupt &) = delete;

  static bool interrupted();

private:
  bool installed_ = false;
};

} // namespace cgrun
