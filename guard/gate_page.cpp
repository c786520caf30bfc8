#include "guard/gate_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "plimsoll/error.h"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

namespace plimsoll::guard {

namespace {

// The kernel can write anything into the page; texts are read as far as they go.
template <size_t N>
std::string bounded(const char (&text)[N]) {
  return std::string(text, ::strnlen(text, N));
}

gate::Page* make_page(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(gate::Page)) != 0) {
    const std::string why = std::strerror(errno);
    if (fd >= 0) ::close(fd);
    fail(ErrorKind::io, "guard", "cannot make ", path.string(), ": ", why);
  }
  void* map = ::mmap(nullptr, sizeof(gate::Page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (map == MAP_FAILED)
    fail(ErrorKind::io, "guard", "cannot map ", path.string(), ": ", std::strerror(errno));
  auto* page = new (map) gate::Page{};
  page->magic = gate::kMagic;
  return page;
}

}  // namespace

GatePage::GatePage(const std::filesystem::path& path) : path_(path), page_(make_page(path)) {}

GatePage::~GatePage() {
  ::munmap(page_, sizeof(gate::Page));
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

void GatePage::reset() {
  // The name may be gone, by a cleaner of temporary files; the next kernel opens the page by it.
  if (!std::filesystem::exists(path_)) {
    gate::Page* fresh = make_page(path_);
    fresh->line.store(page_->line.load());
    fresh->watches_stalls.store(page_->watches_stalls.load());
    ::munmap(std::exchange(page_, fresh), sizeof(gate::Page));
  }
  page_->attached.store(0);
  page_->kernel_pid.store(0);
  page_->python_pid.store(0);
  page_->stacks_wanted.store(0);
  page_->total.store(0);
  page_->rest.store(0);
  page_->refusal_count.store(0);
  page_->fault_count.store(0);
  for (auto& r : page_->refusals) r.ticket.store(0);
  for (auto& f : page_->faults) f.ticket.store(0);
}

void GatePage::ask_for_stack() {
  page_->stacks_wanted.fetch_add(1);
#ifdef __linux__
  ::syscall(SYS_futex, &page_->stacks_wanted, FUTEX_WAKE, 1, nullptr, nullptr, 0);
#endif
}

std::vector<Refusal> GatePage::refusals(uint32_t after) const {
  std::vector<Refusal> out;
  for (const auto& r : page_->refusals) {
    const uint32_t ticket = r.ticket.load(std::memory_order_acquire);
    if (ticket == 0 || ticket <= after) continue;
    Refusal copy{ticket, r.pid, static_cast<double>(r.time_ns) * 1e-9, r.size, r.resident, r.line, {}};
    for (int i = 0; i < std::clamp(r.frame_count, 0, gate::kFrames); ++i)
      copy.frames.push_back(bounded(r.frames[i]));
    out.push_back(std::move(copy));
  }
  std::sort(out.begin(), out.end(), [](auto& a, auto& b) { return a.ticket < b.ticket; });
  return out;
}

std::vector<Fault> GatePage::faults() const {
  std::vector<std::pair<uint32_t, Fault>> found;
  for (const auto& f : page_->faults) {
    const uint32_t ticket = f.ticket.load(std::memory_order_acquire);
    if (ticket == 0) continue;
    Fault copy;
    copy.pid = f.pid;
    copy.signal = f.signal;
    copy.code = f.code;
    copy.survived = f.survived.load() != 0;
    copy.time = static_cast<double>(f.time_ns) * 1e-9;
    copy.address = f.address;
    copy.instruction_pointer = f.instruction_pointer;
    copy.stack_pointer = f.stack_pointer;
    copy.instruction.assign(f.instruction, f.instruction + std::clamp<int>(f.instruction_bytes, 0, 16));
    copy.module = bounded(f.module);
    copy.mapping = bounded(f.mapping);
    found.emplace_back(ticket, std::move(copy));
  }
  std::sort(found.begin(), found.end(), [](auto& a, auto& b) { return a.first < b.first; });
  std::vector<Fault> out;
  for (auto& [ticket, fault] : found) out.push_back(std::move(fault));
  return out;
}

}  // namespace plimsoll::guard
