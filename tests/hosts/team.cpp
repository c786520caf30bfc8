// A library with OpenMP of its own, to be loaded while a program runs.
#include "openmp_team.h"

extern "C" __attribute__((visibility("default"))) bool run_it() { return team_is_whole(3, "library"); }
