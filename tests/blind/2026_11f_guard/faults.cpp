// What libraries do wrong, and how they wait; built by run.py.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
#include <Python.h>

namespace {
struct Base {
  explicit Base(int n) { call(n); }
  void call(int n) { step(n); }
  virtual void step(int) = 0;
};
struct Derived : Base {
  using Base::Base;
  void step(int) override {}
};
using namespace std::chrono_literals;
}  // namespace

extern "C" {
void panic() {
  fprintf(stderr, "thread '<unnamed>' panicked at src/lib.rs:10:5:\nindex out of bounds: the len is 3 but the index is 7\nfatal runtime error: failed to initiate panic, error 5\n");
  abort();
}
void pure_virtual() { Derived d(1); }
void thread_not_joined() { std::thread t([] { usleep(100); }); }
int past_the_vector(int i) { std::vector<int> v(3); return v[i]; }
void copy_too_much(int n) {
  char small[16];
  memset(small, 0, sizeof small);
  char* big = static_cast<char*>(malloc(n + 1));
  memset(big, 'x', n);
  big[n] = 0;
  strcpy(small, big);
  puts(small);
}
void realloc_of_the_middle() { char* p = static_cast<char*>(malloc(1000)); p = static_cast<char*>(realloc(p + 16, 4000)); puts(p); }
int least_divided(volatile int a, volatile int b) { return a / b; }
double region(int n) {
  double s = 0;
  double* p = static_cast<double*>(calloc(n, 8));
#pragma omp parallel for num_threads(3) reduction(+ : s)
  for (int i = 0; i < n; ++i) s += (i == n - 1 ? reinterpret_cast<double*>(0x18) : p)[0] + i;
  return s;
}
int deep(int n) {
  volatile char frame[2048];
  memset(const_cast<char*>(frame), n, sizeof frame);
  return deep(n + 1) + frame[n & 2047];
}
void breakpoint() { raise(SIGTRAP); }
void leave_quickly(int n) { quick_exit(n); }
long grow_a_vector(long n) {
  std::vector<double> v;
  for (long i = 0; i < n; ++i) v.push_back(double(i));
  return long(v.size());
}
// Waits.
void mutex_twice() { static std::mutex m; m.lock(); m.lock(); }
void semaphore_never_posted() { sem_t s; sem_init(&s, 0, 0); while (sem_wait(&s)) {} }
void waits_with_a_limit(int seconds) {
  std::mutex m;
  std::condition_variable c;
  std::unique_lock<std::mutex> l(m);
  c.wait_for(l, std::chrono::seconds(seconds), [] { return false; });
}
void joins_a_thread_that_naps(int times, int each) {
  std::thread([=] { for (int i = 0; i < times; ++i) std::this_thread::sleep_for(std::chrono::seconds(each)); }).join();
}
void calls_back_from_a_thread(void (*f)(int), int times) {
  std::mutex m;
  std::condition_variable c;
  bool done = false;
  std::thread t([&] { for (int i = 0; i < times; ++i) f(i); std::lock_guard<std::mutex> l(m); done = true; c.notify_all(); });
  { std::unique_lock<std::mutex> l(m); c.wait(l, [&] { return done; }); }
  t.join();
}
double workers_and_a_counter(int seconds) {
  std::mutex m;
  std::condition_variable c;
  int left = 2;
  double sum = 0;
  auto work = [&] {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    double x = 0;
    while (std::chrono::steady_clock::now() < end) for (int i = 1; i < 100000; ++i) x += 1.0 / i;
    std::lock_guard<std::mutex> l(m); sum += x; --left; c.notify_all();
  };
  std::thread a(work), b(work);
  { std::unique_lock<std::mutex> l(m); c.wait(l, [&] { return left == 0; }); }
  a.join(); b.join();
  return sum;
}
}
