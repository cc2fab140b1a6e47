#include "bindings.h"

namespace cgrt {

thread_local int CallbackScope::depth = 0;

} // namespace cgrt
