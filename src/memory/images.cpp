#include "memory/images.h"

#if defined(__linux__)

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "memory/host.h"

namespace plimsoll::images {
namespace {

struct Count {
  int pagemap;
  int64_t pages = 0;
};

bool holds(const dl_phdr_info& image, uintptr_t address) {
  return std::any_of(image.dlpi_phdr, image.dlpi_phdr + image.dlpi_phnum, [&](const auto& part) {
    const uintptr_t start = image.dlpi_addr + part.p_vaddr;
    return part.p_type == PT_LOAD && address >= start && address < start + part.p_memsz;
  });
}

bool is_ours(const dl_phdr_info& image) {
  return holds(image, reinterpret_cast<uintptr_t>(&drop)) ||
         (image.dlpi_name != nullptr && std::strstr(image.dlpi_name, "plimsoll") != nullptr);
}

// /proc/<pid>/pagemap has eight bytes for each page; the highest bit says that it is in memory.
void count_pages(Count& count, uintptr_t start, uintptr_t end) {
  const auto page = static_cast<uintptr_t>(host::page_size());
  std::array<uint64_t, 512> entries;
  for (uintptr_t at = start / page, last = (end + page - 1) / page; at < last;) {
    const size_t wanted = std::min<size_t>(entries.size(), last - at);
    const ssize_t got = ::pread(count.pagemap, entries.data(), wanted * sizeof(uint64_t),
                                static_cast<off_t>(at * sizeof(uint64_t)));
    if (got <= 0) return;
    const auto read = static_cast<size_t>(got) / sizeof(uint64_t);
    count.pages += std::count_if(entries.begin(), entries.begin() + static_cast<ptrdiff_t>(read),
                                 [](uint64_t entry) { return (entry >> 63) != 0; });
    at += read;
  }
}

int look_at(dl_phdr_info* image, size_t, void* context) {
  if (!is_ours(*image)) return 0;
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const auto& part = image->dlpi_phdr[i];
    const uintptr_t start = image->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD) count_pages(*static_cast<Count*>(context), start, start + part.p_memsz);
  }
  return 0;
}

// Only what no process may write is as it is in the file.
int drop_from(dl_phdr_info* image, size_t, void*) {
  if (!is_ours(*image)) return 0;
  const auto page = static_cast<uintptr_t>(host::page_size());
  for (int i = 0; i < image->dlpi_phnum; ++i) {
    const auto& part = image->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_W) != 0) continue;
    const uintptr_t start = (image->dlpi_addr + part.p_vaddr) / page * page;
    const uintptr_t end = image->dlpi_addr + part.p_vaddr + part.p_filesz;
    (void)::madvise(reinterpret_cast<void*>(start), end - start, MADV_DONTNEED);
  }
  return 0;
}

}  // namespace

void drop() noexcept { ::dl_iterate_phdr(drop_from, nullptr); }

int64_t in_memory() noexcept {
  Count count{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
  if (count.pagemap < 0) return 0;
  ::dl_iterate_phdr(look_at, &count);
  ::close(count.pagemap);
  return count.pages * host::page_size();
}

int64_t in_memory(const void* start, int64_t bytes) noexcept {
  if (bytes == 0) return 0;
  Count count{::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)};
  if (count.pagemap < 0) return bytes;
  const auto first = reinterpret_cast<uintptr_t>(start);
  count_pages(count, first, first + static_cast<uintptr_t>(bytes));
  ::close(count.pagemap);
  return count.pages * host::page_size();
}

}  // namespace plimsoll::images

#else

namespace plimsoll::images {
int64_t in_memory() noexcept { return 0; }
int64_t in_memory(const void*, int64_t bytes) noexcept { return bytes; }
void drop() noexcept {}
}  // namespace plimsoll::images

#endif
