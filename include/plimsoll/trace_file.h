// TraceFile: what a thread runs when, in Chrome's trace format, which ui.perfetto.dev opens. fit() writes one
// of its own (FitArgs::trace); this is for those who run Programs themselves.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace plimsoll {

class TraceFile {
 public:
  // Records the Programs that this thread runs from now on: kernels, memory by owner. Throws Error{io} if
  // there can be no file at `path`.
  explicit TraceFile(const std::string& path);
  ~TraceFile();  // records no longer; what was not closed is not written
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // A stretch of this thread's time, in seconds of std::chrono::steady_clock. They nest.
  void add(std::string_view name, double begin, double end);
  // Writes the file; the end of it. Throws Error{io}; {invalid_argument} on another thread.
  void close();

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace plimsoll
#pragma GCC visibility pop
