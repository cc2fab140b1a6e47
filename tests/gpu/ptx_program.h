// A program whose kernels are PTX written by hand, so that the tests of the CUDA device need no
// compiler, neither ours nor NVIDIA's.
#pragma once

#include "device.h"
#include "format/program.h"

#include <string_view>
#include <vector>

namespace cgrt::testing {

enum class PtxKernel : std::uint32_t {
  Nothing,  ///< ()
  Limited,  ///< (): blocks of at most 128 threads
  Fault,    ///< (): writes to address 0
  Spin,     ///< (u64 nanoseconds, i32 done[1]): waits, then writes 1 to done
  LastWord, ///< (u32 bytes, i32 out[1]): 7, by way of the last word of `bytes` of shared memory
};

inline constexpr std::string_view ptx_source = R"(
.version 8.0
.target sm_75
.address_size 64

.visible .entry nothing() { ret; }

.visible .entry limited() .maxntid 128, 1, 1 { ret; }

.visible .entry fault() {
  .reg .b32 %value;
  .reg .b64 %null;
  mov.u32 %value, 42;
  mov.u64 %null, 0;
  st.global.u32 [%null], %value;
  ret;
}

.visible .entry spin(.param .u64 spin_nanoseconds, .param .u64 spin_done) {
  .reg .pred %early;
  .reg .b32 %one;
  .reg .b64 %time, %end, %now, %done;
  ld.param.u64 %time, [spin_nanoseconds];
  ld.param.u64 %done, [spin_done];
  mov.u64 %now, %globaltimer;
  add.u64 %end, %now, %time;
$wait:
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %early, %now, %end;
  @%early bra $wait;
  mov.u32 %one, 1;
  st.global.u32 [%done], %one;
  ret;
}

.extern .shared .align 16 .b8 dynamic[];
.visible .entry last_word(.param .u32 last_word_bytes, .param .u64 last_word_out) {
  .reg .b32 %bytes, %at, %base, %value;
  .reg .b64 %out;
  ld.param.u32 %bytes, [last_word_bytes];
  ld.param.u64 %out, [last_word_out];
  mov.u32 %base, dynamic;
  add.u32 %at, %base, %bytes;
  mov.u32 %value, 7;
  st.volatile.shared.u32 [%at + -4], %value;
  ld.volatile.shared.u32 %value, [%at + -4];
  st.global.u32 [%out], %value;
  ret;
}
)";

/// Those of ptx_program().
inline std::vector<format::KernelId> ptx_kernels() {
  return {{0}, {1}, {2}, {3}, {4}};
}

inline format::Image ptx_image(std::string_view architecture, std::string_view text) {
  const auto *begin = reinterpret_cast<const std::byte *>(text.data());
  return {format::ImageKind::Ptx,
          std::string(architecture),
          ptx_kernels(),
          {begin, begin + text.size()}};
}

/// Kernels as PtxKernel numbers them; nothing else in it.
inline format::Program ptx_program() {
  const format::KernelParam out{"out", ScalarType::I32, true, format::Mode::Out};
  format::Program program;
  program.files = {"hand.cgraph"};
  program.kernels = {
      {"nothing", "nothing", {}, {format::FileId{0}, 1, 1}},
      {"limited", "limited", {}, {format::FileId{0}, 2, 1}},
      {"fault", "fault", {}, {format::FileId{0}, 3, 1}},
      {"spin",
       "spin",
       {{"nanoseconds", ScalarType::U64, false, format::Mode::In}, out},
       {format::FileId{0}, 4, 1}},
      {"last_word",
       "last_word",
       {{"bytes", ScalarType::U32, false, format::Mode::In}, out},
       {format::FileId{0}, 5, 1}},
  };
  program.images.push_back(ptx_image("compute_75", ptx_source));
  return program;
}

inline const Function &function_of(const LoadedCode &code, PtxKernel kernel) {
  return code.function(format::KernelId{static_cast<std::uint32_t>(kernel)});
}

} // namespace cgrt::testing
