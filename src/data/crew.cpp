#include "data/crew.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "memory/budget.h"
#include "memory/resident.h"

namespace plimsoll::data {

Crew::Crew(ChunkMaker maker, int threads, int64_t ahead)
    : maker_(std::move(maker)), ahead_(static_cast<size_t>(std::max<int64_t>(1, ahead))) {
  threads_.reserve(static_cast<size_t>(threads));
  begun_.reserve(ahead_);
  spare_.reserve(ahead_ + 2);  // one more with the reader, one being begun
  try {
    for (int i = 0; i < threads; ++i) {
      threads_.emplace_back([this, budget = Budget::current()] {
        const BudgetScope scope(budget);  // what they take counts where the reader's bytes do
        run();
      });
      resident::add_thread();
    }
  } catch (const std::system_error&) {  // No more threads to be had: those that run will do, or none.
  } catch (const std::bad_alloc&) {
  }
}

Crew::~Crew() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  can_work_.notify_all();
  for (std::thread& thread : threads_) {
    thread.join();
    resident::remove_thread();
  }
}

std::unique_ptr<Chunk> Crew::take() {
  if (threads_.empty()) return fill_here();
  std::unique_lock lock(mutex_);
  can_take_.wait(
      lock, [&] { return begun_.empty() ? ended_ : begun_.front()->rows_done == begun_.front()->count; });
  if (begun_.empty()) {
    if (begin_error_) std::rethrow_exception(begin_error_);
    return nullptr;
  }
  std::unique_ptr<Chunk> chunk = std::move(begun_.front());
  begun_.erase(begun_.begin());
  lock.unlock();
  can_work_.notify_all();
  return chunk;
}

void Crew::give(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(chunk));
}

// Null if there is none.
std::unique_ptr<Chunk> Crew::take_spare() {
  if (spare_.empty()) return nullptr;
  std::unique_ptr<Chunk> chunk = std::move(spare_.back());
  spare_.pop_back();
  return chunk;
}

std::unique_ptr<Chunk> Crew::fill_here() {
  std::unique_ptr<Chunk> chunk = take_spare();
  if (chunk == nullptr) chunk = std::make_unique<Chunk>();
  if (!maker_.begin(*chunk)) return nullptr;
  for (int64_t row = 0; row < chunk->count && chunk->error == nullptr; row += maker_.grain()) {
    maker_.work(*chunk, row, std::min(row + maker_.grain(), chunk->count), scratch_, error_mutex_);
  }
  return chunk;
}

void Crew::run() noexcept {
  Scratch scratch;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (Chunk* chunk = chunk_with_rows())
      work_on(*chunk, scratch, lock);
    else if (!beginning_ && !ended_ && begun_.size() < ahead_)
      begin_chunk(lock);
    else
      can_work_.wait(lock);
  }
}

Chunk* Crew::chunk_with_rows() {
  for (const auto& chunk : begun_) {
    if (chunk->next_row < chunk->count) return chunk.get();
  }
  return nullptr;
}

void Crew::work_on(Chunk& chunk, Scratch& scratch, std::unique_lock<std::mutex>& lock) {
  const int64_t from = chunk.next_row;
  const int64_t to = std::min(from + maker_.grain(), chunk.count);
  chunk.next_row = to;
  lock.unlock();
  maker_.work(chunk, from, to, scratch, error_mutex_);
  lock.lock();
  chunk.rows_done += to - from;
  if (chunk.rows_done == chunk.count) can_take_.notify_one();
}

void Crew::begin_chunk(std::unique_lock<std::mutex>& lock) {
  beginning_ = true;
  bool more = false;
  std::exception_ptr error;
  // As many as can be under way are made first, so that no later batch allocates.
  std::unique_ptr<Chunk> chunk = made_ <= ahead_ ? nullptr : take_spare();
  if (chunk == nullptr) ++made_;
  lock.unlock();
  try {
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    more = maker_.begin(*chunk);
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  beginning_ = false;
  if (more) {
    try {
      begun_.push_back(std::move(chunk));
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (!more || error) {
    ended_ = true;
    begin_error_ = error;
    can_take_.notify_one();
  }
  can_work_.notify_all();
}

}  // namespace plimsoll::data
