// What a user's own extension may do wrong; built by kernels.py into faults.so.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <thread>
#include <vector>
#include <pthread.h>
#include <unistd.h>
#include <Python.h>

extern "C" {
void null_in_thread(int seconds) {  // the main thread sleeps meanwhile
  std::thread([] { *static_cast<volatile int*>(nullptr) = 1; }).detach();
  sleep(seconds);
}
int deep(int n) {
  volatile char frame[4096];
  memset(const_cast<char*>(frame), n, sizeof frame);
  return deep(n + 1) + frame[n & 4095];
}
void deep_in_thread() { std::thread([] { deep(0); }).join(); }
void throw_uncaught() { std::thread([] { throw std::runtime_error("bad shape (3, 0)"); }).join(); }
void throw_out_of_noexcept() noexcept { throw std::out_of_range("row 12 of 10"); }
void double_free() {
  void* p = malloc(24);
  free(p);
  free(p);
}
void write_past_the_end() {
  char* p = static_cast<char*>(malloc(3000));
  memset(p, 0xff, 3000 + 64);
  free(p);
}
void smash(int n) {
  char small[8];
  memset(small, 'x', n);
  asm volatile("" ::"r"(small) : "memory");
}
void divide(volatile int a, volatile int b) { volatile int c = a / b; (void)c; }
void failed_assert(int rows) { assert(rows > 0 && "a table has rows"); }
void absurd_vector() { std::thread([] { std::vector<double> v(size_t(1) << 50); v[3] = 1; }).join(); }
void exit_from_c() { exit(7); }
void call_a_number() { reinterpret_cast<void (*)()>(0x1234567)(); }
void trap() { __builtin_trap(); }

// Waits. never_signalled lets the interpreter's lock go if called by CDLL and keeps it if by PyDLL.
void never_signalled() {
  static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
  static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&m);
  for (;;) pthread_cond_wait(&c, &m);
}
void joins_one_that_wants_the_lock() {
  std::thread([] { PyGILState_STATE s = PyGILState_Ensure(); PyGILState_Release(s); }).join();
}
double simpson(double seconds) {
  timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  double x = 0;
  do {
    for (int i = 0; i < 1000000; ++i) x += 1.0 / (1.0 + i * 1e-6 * (i * 1e-6));
    clock_gettime(CLOCK_MONOTONIC, &b);
  } while (double(b.tv_sec - a.tv_sec) < seconds);
  return x;
}
}
