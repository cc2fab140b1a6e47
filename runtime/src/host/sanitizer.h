// CGRT_ADDRESS_SANITIZER is defined where this is compiled with AddressSanitizer.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define CGRT_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CGRT_ADDRESS_SANITIZER
#endif
#endif
