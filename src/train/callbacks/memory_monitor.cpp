// MemoryMonitor: what is held, over time.
#include <chrono>
#include <fstream>
#include <limits>

#include "common/log.h"
#include "plimsoll/callbacks.h"
#include "plimsoll/error.h"
#include "plimsoll/memory.h"

namespace plimsoll {
namespace {

class MonitorCallback final : public Callback {
 public:
  MonitorCallback(std::string path, const MemoryMonitorOptions& o)
      : path_(std::move(path)), o_(o), every_(o.every) {}
  bool wants_batch_logs() const override { return false; }
  double memory_every() const override { return o_.every; }
  void on_train_begin() override {
    start_ = std::chrono::steady_clock::now();
    every_ = o_.every;
    last_ = -std::numeric_limits<double>::infinity();
    lines_ = epoch_ = step_ = 0;
    if (path_.empty()) return;
    file_.close();
    file_.clear();
    file_.open(path_, std::ios::trunc);
    write("seconds,epoch,step,engine,engine_peak,resident,resident_peak,limit");
  }
  void on_epoch_begin(int64_t epoch) override { epoch_ = epoch; }
  void on_train_batch_begin(int64_t batch) override { step_ = batch; }
  void on_memory(const MemoryUse& use) override {
    const double now = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (now - last_ < every_) return;
    last_ = now;
    if (++lines_ % o_.most_lines == 0) every_ = every_ > 0 ? 2 * every_ : 1;
    const bool limited = use.limit != std::numeric_limits<int64_t>::max();
    if (path_.empty()) {
      log(LogLevel::info, "memory", memory_text(use.engine), limited ? " of " + memory_text(use.limit) : "",
          ", process ", memory_text(use.resident));
      return;
    }
    write(concat(now, ",", epoch_, ",", step_, ",", use.engine, ",", use.engine_peak, ",", use.resident, ",",
                 use.resident_peak, ",", limited ? std::to_string(use.limit) : ""));
  }
  void on_train_end(const Logs&) override { file_.close(); }

 private:
  void write(const std::string& line) {
    file_ << line << '\n' << std::flush;
    if (!file_) fail(ErrorKind::io, "MemoryMonitor", "cannot write ", path_);
  }
  std::string path_;
  MemoryMonitorOptions o_;
  std::ofstream file_;
  std::chrono::steady_clock::time_point start_;
  double every_, last_ = 0;
  int64_t lines_ = 0, epoch_ = 0, step_ = 0;
};

}  // namespace

CallbackPtr MemoryMonitor(const std::string& filename, const MemoryMonitorOptions& o) {
  require(o.every >= 0, "MemoryMonitor", "expected every >= 0, got ", o.every);
  require(o.most_lines > 0, "MemoryMonitor", "expected most_lines > 0, got ", o.most_lines);
  return std::make_shared<MonitorCallback>(filename, o);
}

}  // namespace plimsoll
