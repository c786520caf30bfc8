// Process runs plimsoll-h5, the program that has libhdf5, and speaks with it as h5/wire.h says. No other
// process of ours loads libhdf5: a file of others can make it crash, and beside another version of it
// (h5py's) it does so by itself.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fd.h"
#include "plimsoll/error.h"

namespace plimsoll::h5 {

// One thread at a time. What goes wrong throws Error of the kind given, naming the file.
class Process {
 public:
  struct About {
    std::string file;  // its name, for errors
    ErrorKind kind = ErrorKind::bad_file;
    std::string_view doing = "reading";
  };
  // Starts it with `input` (-1: none) as its descriptor 0. The program is looked for in $PLIMSOLL_LIBEXEC,
  // beside the program and in ../libexec/plimsoll from there, and where Plimsoll was installed:
  // Error{not_found} if it is not there.
  Process(About about, const std::vector<std::string>& arguments, int input);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void read(void* into, uint64_t count);
  template <class T>
  T number() {
    T value;
    read(&value, sizeof value);
    return value;
  }
  // Throws if it is longer than `most` bytes.
  std::string text(uint64_t most);

  // Kept until the next read, or until there are many.
  void write(const void* bytes, size_t count);
  template <class T>
  void put(T value) {
    write(&value, sizeof value);
  }
  void put_text(std::string_view text);

  // Reads an answer; throws with its text if it is not ok.
  void expect_ok();
  [[noreturn]] void misspoke();  // for answers that cannot be

 private:
  void start(const std::string& program, const std::vector<std::string>& arguments, int input, int output);
  void await(short event);  // for a minute at most
  uint64_t read_some(void* into, uint64_t count);
  void send();
  [[noreturn]] void say_how_it_ended();
  int wait();

  const About about_;
  Fd socket_;
  pid_t pid_ = 0;
  std::string unsent_;
  size_t first_ = 0, last_ = 0;
  std::unique_ptr<char[]> block_;
};

}  // namespace plimsoll::h5
