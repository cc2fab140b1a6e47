#include "bindings.h"

namespace cgrt {

thread_local int CallbackScope::depth_ = 0;

} // namespace cgrt
