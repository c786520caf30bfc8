// Floats too small for a full mantissa cost some processors a hundred times a normal operation, and training
// makes them: the squares of small gradients, the tails of a softmax. While an op runs they count as zero, as
// in TensorFlow and XLA. The mode is the thread's own: the caller's is put back, so that no one else's
// numbers change.
#pragma once

#include <cstdint>

namespace plimsoll {

#if defined(__x86_64__)
inline constexpr uint64_t kFlushBits = 0x8040;  // MXCSR: flush results, take operands as zero
inline uint64_t float_mode() noexcept { return __builtin_ia32_stmxcsr(); }
inline void set_float_mode(uint64_t mode) noexcept { __builtin_ia32_ldmxcsr(static_cast<unsigned>(mode)); }
#elif defined(__aarch64__)
inline constexpr uint64_t kFlushBits = uint64_t{1} << 24;  // FPCR.FZ: both
inline uint64_t float_mode() noexcept {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void set_float_mode(uint64_t mode) noexcept { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
inline constexpr uint64_t kFlushBits = 0;
inline uint64_t float_mode() noexcept { return 0; }
inline void set_float_mode(uint64_t) noexcept {}
#endif

class FlushDenormals {
 public:
  FlushDenormals() noexcept : before_(float_mode()) { set_float_mode(before_ | kFlushBits); }
  ~FlushDenormals() { set_float_mode(before_); }
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  uint64_t before_;
};

}  // namespace plimsoll
