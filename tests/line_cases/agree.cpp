// What the account says beside what the system counts, after every step of one of the bench's models in a
// process of its own. Exits with 0 if they are never further apart than 4 MB or 1 percent.
//
//   agree MODEL BATCH
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "memory/account.h"
#include "memory/images.h"
#include "memory/pool.h"
#include "memory/readings.h"
#include "memory/resident.h"
#include "models/models.h"
#include "plimsoll/program.h"

namespace {

using namespace plimsoll;

constexpr double kMB = 1e6;

// Exact, unlike VmRSS, of which the kernel has up to 64 pages for each processor elsewhere.
int64_t rss() {
  std::ifstream file("/proc/self/smaps_rollup");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return readings::parse::field(text, "Rss").value_or(0);
}

class Agreement {
 public:
  Agreement() : base_(rss() - images::in_memory()) {}

  // `touched`: nothing is charged that has not been used yet.
  void look(const std::string& when, bool touched = true) {
    pool::trim();
    const resident::Parts parts = resident::parts();
    const int64_t counted = rss() - base_;
    const int64_t known = account::used() - account::used(Owner::process) + parts.sum();
    const int64_t apart = counted - known;
    const auto mb = [](int64_t bytes) { return static_cast<double>(bytes) / kMB; };
    std::printf("%-8s system %8.2f MB, account %8.2f (", when.c_str(), mb(counted), mb(known));
    for (int i = 0; i < kOwnerCount; ++i) {
      const auto owner = static_cast<Owner>(i);
      if (owner != Owner::process && account::used(owner) > 0)
        std::printf("%s %.2f, ", std::string(name_of(owner)).c_str(), mb(account::used(owner)));
    }
    std::printf("code %.2f, threads %.2f), not known of: %.2f\n", mb(parts.images), mb(parts.threads),
                mb(apart));
    if (touched &&
        std::abs(static_cast<double>(apart)) > std::max(4 * kMB, 0.01 * static_cast<double>(counted)))
      agrees = false;
  }

  bool agrees = true;

 private:
  int64_t base_;
};

bool run(const models::Model& model, int64_t batch) {
  Agreement agreement;
  agreement.look("begin");
  models::Weights weights;
  const std::vector<Tensor> inputs = models::sample_batch(model, batch);
  {
    Program program = Program::compile(models::train_graph(model, weights, batch));
    agreement.look("compiled", false);
    std::vector<Tensor> outputs(1);
    constexpr int kSteps = 4;
    for (int i = 1; i <= kSteps; ++i) {
      program.run(inputs, outputs);
      agreement.look("step " + std::to_string(i));
    }
  }
  agreement.look("dropped");
  return agreement.agrees;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) return 2;
  return run(models::get_model(argv[1]), std::stoll(argv[2])) ? 0 : 1;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 2;
}
