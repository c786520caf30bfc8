// Which of Highway's targets we build: include before hwy/foreach_target.h. One per step of x86 (SSE4,
// AVX2, AVX-512) keeps the build short; the ones left out differ in instructions that we do not use.
#pragma once

#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#endif

// Before a loop over elements whose output may be one of its inputs, but does not overlap them otherwise.
#if defined(__clang__)
#define PLIMSOLL_EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define PLIMSOLL_EACH _Pragma("GCC ivdep")
#endif
