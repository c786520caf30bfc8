// A library that stands on libplimsoll.so, to be loaded and closed while a program runs.
#include "training.h"

extern "C" __attribute__((visibility("default"))) bool run_it() { return trains("trainee"); }
