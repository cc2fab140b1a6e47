// What an output was made from, for build systems.
#pragma once

#include <llvm/Support/Error.h>

#include <string>
#include <vector>

namespace cgc {

/// One rule of a makefile: `output` and its inputs, escaped as C compilers do for `-MD`. An error
/// for a name with a line end, which no makefile can spell.
llvm::Expected<std::string> dependency_rule(const std::string &output,
                                            const std::vector<std::string> &inputs);

} // namespace cgc
