// plimsoll-guard: what Jupyter starts in place of a kernel, and what `plimsoll guard` hands over to.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "guard/kernel_guard.h"
#include "guard/options.h"
#include "guard/script_guard.h"

int main(int argc, char** argv) {
  using namespace plimsoll::guard;
#ifdef __GLIBC__
  // Large buffers pass through; none of their memory is kept for the next.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
  try {
    const GuardOptions options = parse_options(std::vector<std::string>(argv + 1, argv + argc));
    if (options.command.empty()) {
      std::fputs(usage(), stdout);
      return 0;
    }
    return options.connection_file.empty() ? guard_script(options) : guard_kernel(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "plimsoll: %s\n", e.what());
    return 2;
  }
}
