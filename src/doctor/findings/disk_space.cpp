// Disks that are full, and a /dev/shm too small for data loaders.
#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

constexpr uint64_t kMiB = 1u << 20;

void check_disk(const Disk& disk, Findings& findings) {
  if (disk.total == 0 || disk.free >= 500 * kMiB) return;
  Finding f;
  f.severity = disk.free < 50 * kMiB ? Severity::error : Severity::warning;
  f.sureness = disk.free < 50 * kMiB ? Sureness::certain : Sureness::likely;
  f.what = concat("The disk that holds the ", disk.what, " has ", show_bytes(disk.free), " left");
  f.evidence = {concat(disk.path, ": ", show_bytes(disk.free), " of ", show_bytes(disk.total), " free")};
  f.leads_to = "OSError: No space left on device; checkpoints and notebooks cut off in the middle";
  f.fix =
      concat("du -xh ", disk.path, " | sort -h | tail   # then remove what is not needed; pip cache purge");
  findings.push_back(f);
}

// A disk has room for so many files, whatever their size.
void check_files(const Disk& disk, Findings& findings) {
  constexpr uint64_t kFew = 100;
  if (disk.files == 0 || disk.files_free >= kFew) return;
  findings.push_back(
      {"",
       Severity::error,
       Sureness::certain,
       concat("The disk that holds the ", disk.what, " can take no more files: its inodes are used up"),
       {concat(disk.path, ": ", disk.files_free, " of ", disk.files, " inodes free")},
       "OSError: No space left on device, with space left",
       concat("du --inodes -x ", disk.path, " | sort -n | tail   # then remove what is not needed")});
}

void check_shared_memory(const Exam& exam, Findings& findings) {
  const Disk* shm = exam.system.disk("/dev/shm");
  if (!shm || shm->total == 0) return;
  const bool torch = exam.environment.find("torch") != nullptr;
  const bool full = torch && shm->total > 64 * kMiB && shm->free < 16 * kMiB;
  // Containers have 64 MiB unless told otherwise: too little for PyTorch's workers, enough for most others.
  if (shm->total > (torch ? 64 : 32) * kMiB && !full) return;
  Finding f;
  f.severity = Severity::warning;
  f.sureness = Sureness::likely;
  f.what = full ? "/dev/shm is full" : "/dev/shm is too small for data shared between processes";
  f.evidence = {concat("/dev/shm: ", show_bytes(shm->free), " of ", show_bytes(shm->total), " free")};
  f.leads_to = torch ? "PyTorch: DataLoader worker is killed by signal: Bus error"
                     : "A bus error kills the process that fills shared memory (multiprocessing, joblib)";
  f.fix = full ? "ls -l /dev/shm   # remove what dead processes left there"
               : "docker run --shm-size=2g ...   # or num_workers=0";
  findings.push_back(f);
}

}  // namespace

void find_disk_space(const Exam& exam, Findings& findings) {
  for (size_t i = 0; i < exam.system.disks.size(); ++i) {
    const Disk& disk = exam.system.disks[i];
    if (disk.what == "/dev/shm") continue;
    bool said = false;  // of the same disk, seen under another name
    for (size_t k = 0; k < i; ++k) {
      said |= exam.system.disks[k].total == disk.total && exam.system.disks[k].free == disk.free &&
              exam.system.disks[k].files_free == disk.files_free;
    }
    if (!said) check_disk(disk, findings);
    if (!said) check_files(disk, findings);
  }
  check_shared_memory(exam, findings);
}

}  // namespace plimsoll::doctor
