// CGRT_ADDRESS_SANITIZER and CGRT_THREAD_SANITIZER are defined where this is compiled with those.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CGRT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CGRT_ADDRESS_SANITIZER
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#define CGRT_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CGRT_THREAD_SANITIZER
#endif
#endif
