// loading_host [local|global] [keep|close] <library>...: loads the libraries in turn, with or without putting
// their symbols where all others find them, and calls run_it() of each. With OpenMP of its own, which must
// stay whole.
#include <dlfcn.h>

#include <cstdio>
#include <cstring>
#include <thread>

#ifdef _OPENMP
#include "openmp_team.h"
#endif

int main(int argc, char** argv) {
  const int scope = std::strcmp(argv[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
  const bool close = std::strcmp(argv[2], "close") == 0;
  for (int i = 3; i < argc; ++i) {
    void* const library = dlopen(argv[i], RTLD_NOW | scope);
    if (library == nullptr) return std::printf("%s\n", dlerror()), 1;
    const auto run_it = reinterpret_cast<bool (*)()>(dlsym(library, "run_it"));
    bool ok = run_it != nullptr;
    // By a thread that ends: what it keeps for itself would hold the library.
    if (ok) std::thread([&] { ok = run_it(); }).join();
    if (!ok) return std::printf("%s failed\n", argv[i]), 1;
    if (close) dlclose(library);
#ifdef _OPENMP
    if (!team_is_whole(3, argv[i])) return 1;
#endif
  }
  return 0;
}
