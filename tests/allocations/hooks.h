// Every heap allocation of the process, seen: malloc and its kin, operator new and mmap are replaced in this
// program. Counting and failing are off until asked for, and then concern all threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace plimsoll::testing {

// Starts counting from zero.
void start_counting();
// Allocations since then, by the library (or program) that asked: {"libplimsoll_onednn.so.3": 12}. Ends
// counting.
std::map<std::string, int64_t> stop_counting();

// Blocks of the heap taken and not yet given back, of the whole process. For leaks: compare two readings.
int64_t live_allocations();
// Those of operator new alone: what libraries in C keep for themselves does not count.
int64_t live_news();
// Bytes of those blocks, as large as malloc made them, and of anonymous pages that can be used. Without
// stacks of threads, and without the blocks of oneDNN: of what it asks for to write code into it uses a
// tenth.
int64_t live_bytes();
// The most bytes in blocks of the heap since this was last asked.
int64_t peak_heap_bytes();

// The n-th operator new from now on (1 = the next) that this program's own code asks for throws
// std::bad_alloc; 0 switches it off. Libraries are spared: some of them cannot bear it. So is nlohmann-json,
// whose constructors leak then, unless it is asked for.
void fail_nth_new(int64_t n);
void fail_in_json(bool on);
// Whether the failure asked for has happened.
bool has_failed();

}  // namespace plimsoll::testing
