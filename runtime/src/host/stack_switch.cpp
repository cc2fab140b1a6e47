#include "host/stack_switch.h"

#include <algorithm>
#include <cstdint>

namespace cgrt {

namespace {

/// What a place holds, from its address upwards, in words: the preserved registers, of which the
/// begin of a stack needs three.
#if defined(__x86_64__)
constexpr std::size_t words = 7; // rbp, rbx, r12 to r15, the return address
constexpr std::size_t function_word = 2;
constexpr std::size_t argument_word = 3;
constexpr std::size_t return_word = 6;
#elif defined(__aarch64__)
constexpr std::size_t words = 20; // x19 to x28, x29, x30, d8 to d15
constexpr std::size_t function_word = 0;
constexpr std::size_t argument_word = 1;
constexpr std::size_t return_word = 11;
#endif

} // namespace

/// Calls what place_at_function() was given.
extern "C" void cgrt_begin_stack();

void *place_at_function(std::byte *end, void (*function)(void *), void *argument) {
  auto *place = reinterpret_cast<std::uintptr_t *>(end) - words;
  std::fill_n(place, words, 0);
  place[function_word] = reinterpret_cast<std::uintptr_t>(function);
  place[argument_word] = reinterpret_cast<std::uintptr_t>(argument);
  place[return_word] = reinterpret_cast<std::uintptr_t>(cgrt_begin_stack);
  return place;
}

} // namespace cgrt

// The jump of x86-64 is not `ret`, whose target a processor expects to be the latest call's, here
// one of the stack that is left.
#if defined(__x86_64__)
asm(R"(
  .text
  .globl cgrt_switch_stack
  .hidden cgrt_switch_stack
  .type cgrt_switch_stack, @function
cgrt_switch_stack:
  pushq %r15
  pushq %r14
  pushq %r13
  pushq %r12
  pushq %rbx
  pushq %rbp
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %rbp
  popq %rbx
  popq %r12
  popq %r13
  popq %r14
  popq %r15
  popq %rcx
  jmpq *%rcx
  .size cgrt_switch_stack, .-cgrt_switch_stack
  .globl cgrt_begin_stack
  .hidden cgrt_begin_stack
  .type cgrt_begin_stack, @function
cgrt_begin_stack:
  .cfi_startproc
  .cfi_undefined rip
  movq %r13, %rdi
  callq *%r12
  ud2
  .cfi_endproc
  .size cgrt_begin_stack, .-cgrt_begin_stack
)");
#elif defined(__aarch64__)
asm(R"(
  .text
  .globl cgrt_switch_stack
  .hidden cgrt_switch_stack
  .type cgrt_switch_stack, %function
cgrt_switch_stack:
  sub sp, sp, #160
  stp x19, x20, [sp, #0]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8, d9, [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp, #0]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8, d9, [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
  .size cgrt_switch_stack, .-cgrt_switch_stack
  .globl cgrt_begin_stack
  .hidden cgrt_begin_stack
  .type cgrt_begin_stack, %function
cgrt_begin_stack:
  .cfi_startproc
  .cfi_undefined x30
  mov x0, x20
  blr x19
  brk #0
  .cfi_endproc
  .size cgrt_begin_stack, .-cgrt_begin_stack
)");
#endif
