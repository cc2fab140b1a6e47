// What an error says.
#pragma once

#include <cgrt/types.h>

#include <gtest/gtest.h>

#include <string>

namespace conformance {

/// Calls it and expects an error of this code; "no error" where there is none.
template <typename Call> std::string message_of(cgrt::ErrorCode code, const Call &call) {
  try {
    call();
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

} // namespace conformance
