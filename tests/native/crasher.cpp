// Ways for a process to die, each a function to be called from Python by ctypes. For the tests of the guard.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#define CRASHER extern "C" __attribute__((visibility("default"), noinline))

CRASHER void crash_segfault() {
  volatile int* nowhere = reinterpret_cast<int*>(0x10);
  *nowhere = 1;
}

// In a thread that Python knows nothing of, while the caller waits.
CRASHER void crash_in_thread() {
  pthread_t thread;
  auto run = [](void*) -> void* {
    crash_segfault();
    return nullptr;
  };
  if (pthread_create(&thread, nullptr, run, nullptr) == 0) pthread_join(thread, nullptr);
}

CRASHER int crash_stack(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  if (depth < 0) return 0;
  return crash_stack(depth + 1) + frame[0];
}

CRASHER void crash_illegal() {
#if defined(__x86_64__)
  // vaddps zmm0, zmm0, zmm0: illegal where there is no AVX-512; ud2 where there is.
  asm volatile(".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0\n\tud2");
#elif defined(__aarch64__)
  asm volatile(".inst 0x00000000");
#else
  std::raise(SIGILL);
#endif
}

// A handler that dies of another signal than the one it was called for.
CRASHER void crash_twice() {
  std::signal(SIGILL, [](int) { crash_segfault(); });
  crash_illegal();
}

CRASHER void crash_bus(const char* path) {
  const int fd = ::open(path, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ::ftruncate(fd, 8192) != 0) return;
  auto* map = static_cast<volatile char*>(::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  if (::ftruncate(fd, 0) != 0) return;
  map[4096] = 1;
}

static void fail_to_allocate() { throw std::bad_alloc(); }
CRASHER void crash_bad_alloc() noexcept { fail_to_allocate(); }

CRASHER void crash_check() {
  std::fputs("F0000 00:00:00.000000  4242 tensor_shape.cc:587] Check failed: size >= 0 (-1 vs. 0)\n", stderr);
  std::abort();
}

// The words of Intel's and LLVM's OpenMP runtimes when they find another copy of themselves.
CRASHER void crash_openmp() {
  std::fputs(
      "OMP: Error #15: Initializing libiomp5.so, but found libomp.so already initialized.\n"
      "OMP: Hint This means that multiple copies of the OpenMP runtime have been linked into the program.\n",
      stderr);
  std::abort();
}

CRASHER void crash_abort() { std::abort(); }

CRASHER int crash_divide(int by) { return 1 / by; }

// Takes memory in pieces too small to be refused, and never returns to Python.
CRASHER void eat_memory(long bytes) {
  constexpr long kPiece = 48 * 1024;
  for (long taken = 0; taken < bytes; taken += kPiece) {
    void* piece = std::malloc(kPiece);
    if (!piece) std::abort();
    std::memset(piece, 1, kPiece);
  }
}

// What careless native code does with a request that was refused.
CRASHER void use_without_check(long bytes) {
  char* memory = static_cast<char*>(std::malloc(static_cast<size_t>(bytes)));
  memory[0] = 1;
}
