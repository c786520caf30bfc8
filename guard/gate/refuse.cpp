// When to refuse. Only large requests over the line are refused, the further over the smaller: a program that
// gets no memory at all for its small needs does not survive, one that loses a large array does.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <unwind.h>

#include "guard/gate/gate.h"

namespace plimsoll::gate {

Page* g_page = nullptr;

namespace {

constexpr size_t kMiB = 1024 * 1024;
constexpr int64_t kTrimEveryNs = 20'000'000;
constexpr int64_t kUnread = 8 * static_cast<int64_t>(kMiB);

thread_local bool t_inside = false;
std::atomic<int64_t> g_trimmed_at{0};
std::atomic<int64_t> g_unread{0};  // bytes granted since the last look at the process
std::atomic<int64_t> g_seen{0};    // resident bytes at that look

// How far above the line a request of this size is still granted.
int64_t grace(size_t size, int64_t line) {
  // Below a line so low that importing a library comes near it, its buffers must still pass.
  if (size >= 16 * kMiB) return line < static_cast<int64_t>(256 * kMiB) ? static_cast<int64_t>(32 * kMiB) : 0;
  if (size >= kMiB) return line / 16;
  return line / 8;
}

// The beginning of a file of /proc/self, without a call that allocates.
template <size_t kSize>
bool read_own(const char* path, char (&text)[kSize]) {
  const int fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  if (fd < 0) return false;
  const long n = ::syscall(SYS_read, fd, text, kSize - 1);
  ::syscall(SYS_close, fd);
  if (n <= 0) return false;
  text[n] = '\0';
  return true;
}

int64_t number_at(const char* text) {
  int64_t value = 0;
  while (*text == ' ' || *text == '\t') ++text;
  for (; *text >= '0' && *text <= '9'; ++text) value = 10 * value + (*text - '0');
  return value;
}

// Resident bytes of this process.
int64_t own_resident() {
  char text[96];
  if (!read_own("/proc/self/statm", text)) return 0;
  const char* at = text;
  while (*at && *at != ' ') ++at;
  return number_at(at) * ::sysconf(_SC_PAGESIZE);
}

// The same without those of files, which the system can drop and read again.
int64_t own_held() {
  char text[4096];
  if (!read_own("/proc/self/status", text)) return own_resident();
  const auto field = [&](const char* name) {
    const char* at = ::strstr(text, name);
    return at ? number_at(at + ::strlen(name)) * 1024 : 0;
  };
  return field("\nVmRSS:") - field("\nRssFile:");
}

// Of all processes under the line; `own` are those of this one.
int64_t with_others(int64_t own) {
  if (::getpid() == g_page->kernel_pid.load(std::memory_order_relaxed)) {
    return own + g_page->rest.load(std::memory_order_relaxed);
  }
  const int64_t total = g_page->total.load(std::memory_order_relaxed);
  return total > own ? total : own;
}

bool over(int64_t resident, int64_t growth, int64_t line, int64_t grace) {
  return resident + growth > line + grace;
}

struct Stack {
  int count;
  uintptr_t at[kFrames];
};

struct Walk {
  Stack* stack;
  int skip;
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* data) {
  auto* walk = static_cast<Walk*>(data);
  if (walk->skip-- > 0) return _URC_NO_REASON;
  Stack& s = *walk->stack;
  const uintptr_t ip = s.count < kFrames ? _Unwind_GetIP(context) : 0;
  if (ip == 0) return _URC_END_OF_STACK;
  s.at[s.count++] = ip;
  return _URC_NO_REASON;
}

void name_frame(char* text, uintptr_t ip) {
  Dl_info info{};
  const bool known = ::dladdr(reinterpret_cast<void*>(ip - 1), &info) != 0 && info.dli_fname;
  const char* name = known ? info.dli_fname : "?";
  for (const char* p = name; *p; ++p) {
    if (*p == '/') name = p + 1;
  }
  size_t at = copy_text(text, kFrameText, name);
  at = append_hex(text, kFrameText, at, ip - (known ? reinterpret_cast<uintptr_t>(info.dli_fbase) : 0));
  if (known && info.dli_sname && at + 2 < kFrameText) {
    text[at++] = ' ';
    copy_text(text + at, kFrameText - at, info.dli_sname);
  }
}

// The last stack that this thread had refused, and where it is told by name. To name an address all symbols
// of its library are looked through, and a program that is refused tends to ask again, from the same place.
thread_local Stack t_last{};
thread_local uint32_t t_last_ticket = 0;

bool copy_names(Refusal& r, const Stack& stack) {
  if (t_last_ticket == 0 || ::memcmp(&stack, &t_last, sizeof stack) != 0) return false;
  const Refusal& last = g_page->refusals[(t_last_ticket - 1) % kRefusals];
  if (&last == &r || last.ticket.load(std::memory_order_acquire) != t_last_ticket) return false;
  ::memcpy(r.frames, last.frames, sizeof r.frames);
  std::atomic_thread_fence(std::memory_order_acquire);
  return last.ticket.load(std::memory_order_relaxed) == t_last_ticket;  // no other took its place meanwhile
}

void note(size_t size, int64_t resident, int64_t line) {
  Stack stack{};
  Walk walk{&stack, 2};
  _Unwind_Backtrace(note_frame, &walk);
  const uint32_t ticket = g_page->refusal_count.fetch_add(1) + 1;
  Refusal& r = g_page->refusals[(ticket - 1) % kRefusals];
  r.ticket.store(0, std::memory_order_release);
  r.pid = ::getpid();
  r.time_ns = monotonic_ns();
  r.size = static_cast<int64_t>(size);
  r.resident = resident;
  r.line = line;
  r.frame_count = stack.count;
  if (!copy_names(r, stack)) {
    for (int i = 0; i < stack.count; ++i) name_frame(r.frames[i], stack.at[i]);
  }
  r.ticket.store(ticket, std::memory_order_release);
  t_last = stack;
  t_last_ticket = ticket;
}

// What was freed and kept by malloc still counts as resident; it is given back before anyone is refused.
void trim() {
  const int64_t now = monotonic_ns();
  int64_t last = g_trimmed_at.load(std::memory_order_relaxed);
  if (now - last < kTrimEveryNs || !g_trimmed_at.compare_exchange_strong(last, now)) return;
  ::malloc_trim(0);
}

bool decide(size_t size, size_t growth) {
  const int64_t line = g_page->line.load(std::memory_order_relaxed);
  if (line <= 0) return false;
  if (growth >> 47 != 0) return false;  // more than there are addresses: the system refuses it itself
  const auto wanted = static_cast<int64_t>(growth);
  // The last reading, with all that was granted since, is good enough far below the line, and costs no system
  // call; nearer to it only for what is not really large: between two readings a fast program takes hundreds
  // of MiB.
  const int64_t total = g_page->total.load(std::memory_order_relaxed);
  const int64_t seen = g_seen.load(std::memory_order_relaxed);
  const int64_t unread = g_unread.fetch_add(wanted, std::memory_order_relaxed) + wanted;
  if (total > 0 && (total > seen ? total : seen) + unread <= line / 2) return false;
  if (size < kMiB && total <= line && unread < kUnread) return false;
  g_unread.store(0, std::memory_order_relaxed);
  int64_t resident = with_others(own_resident());
  g_seen.store(resident, std::memory_order_relaxed);
  if (!over(resident, wanted, line, grace(size, line))) return false;
  trim();
  resident = with_others(own_held());
  if (!over(resident, wanted, line, grace(size, line))) return false;
  note(size, resident, line);
  return true;
}

__attribute__((constructor)) void attach() {
  const char* path = ::getenv(kPageVariable);
  if (!path) return;
  const int fd = ::open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* map = reinterpret_cast<void*>(
      ::syscall(SYS_mmap, nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
  ::close(fd);
  if (map == MAP_FAILED) return;
  auto* page = static_cast<Page*>(map);
  if (page->magic != kMagic) return;
  g_page = page;
  page->attached.store(1);
  // What happens to its children is not told of, and theirs to handle.
  if (::getpid() == page->kernel_pid.load()) watch_signals();
}

}  // namespace

bool refuse(size_t size, size_t growth) {
  if (!g_page || t_inside) return false;
  t_inside = true;
  const int saved = errno;
  const bool no = decide(size, growth);
  errno = no ? ENOMEM : saved;
  t_inside = false;
  return no;
}

int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

size_t copy_text(char* to, size_t capacity, const char* from) {
  size_t n = 0;
  while (n + 1 < capacity && from[n]) {
    to[n] = from[n];
    ++n;
  }
  to[n] = '\0';
  return n;
}

size_t append_hex(char* to, size_t capacity, size_t at, uint64_t value) {
  char digits[16];
  int n = 0;
  do {
    digits[n++] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value);
  for (const char* p = "+0x"; *p && at + 1 < capacity; ++p) to[at++] = *p;
  while (n > 0 && at + 1 < capacity) to[at++] = digits[--n];
  to[at] = '\0';
  return at;
}

}  // namespace plimsoll::gate
