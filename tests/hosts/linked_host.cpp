// A program with OpenMP of its own that is linked with the engine: neither changes what the other gets.
#include "openmp_team.h"
#include "training.h"

int main() {
  const bool ok =
      team_is_whole(3, "before") && trains("linked") && team_is_whole(4, "after") && trains("again");
  return ok ? 0 : 1;
}
