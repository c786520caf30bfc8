// Crew: threads that fill chunks ahead of a reader, in order, at most `ahead` of them at a time. With no
// threads the one that takes a chunk fills it. take() and give() are called by one thread at a time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "data/chunk.h"

namespace plimsoll::data {

class Crew {
 public:
  // Where the system gives fewer threads than asked for, these do the work.
  Crew(ChunkMaker maker, int threads, int64_t ahead);
  // Lets the threads finish the record they are at.
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // The next chunk, all rows read; null at the end. Throws what ended the reading.
  std::unique_ptr<Chunk> take();
  // A chunk whose buffers can be used again.
  void give(std::unique_ptr<Chunk> chunk);

 private:
  void run() noexcept;
  Chunk* chunk_with_rows();
  std::unique_ptr<Chunk> take_spare();
  void begin_chunk(std::unique_lock<std::mutex>& lock);
  void work_on(Chunk& chunk, Scratch& scratch, std::unique_lock<std::mutex>& lock);
  std::unique_ptr<Chunk> fill_here();

  ChunkMaker maker_;
  size_t ahead_;
  std::mutex mutex_;
  std::mutex error_mutex_;  // of the chunks' errors
  std::condition_variable can_work_;
  std::condition_variable can_take_;
  std::vector<std::unique_ptr<Chunk>> begun_;  // in order; the front is the next to be taken
  std::vector<std::unique_ptr<Chunk>> spare_;
  size_t made_ = 0;  // chunks, by threads
  std::exception_ptr begin_error_;
  bool beginning_ = false;
  bool ended_ = false;
  bool stop_ = false;
  Scratch scratch_;  // of the reading thread, where there is no other
  std::vector<std::thread> threads_;
};

}  // namespace plimsoll::data
