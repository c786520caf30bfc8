#include "data/crew.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

namespace plimsoll::data {

Crew::Crew(ChunkMaker maker, int threads, int64_t ahead)
    : maker_(std::move(maker)), ahead_(static_cast<size_t>(std::max<int64_t>(1, ahead))) {
  threads_.reserve(static_cast<size_t>(threads));
  try {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
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
  for (std::thread& thread : threads_) thread.join();
}

std::unique_ptr<Chunk> Crew::take() {
  if (threads_.empty()) return fill_here();
  std::unique_lock lock(mutex_);
  can_take_.wait(
      lock, [&] { return jobs_.empty() ? ended_ : jobs_.front()->rows_done == jobs_.front()->chunk->count; });
  if (jobs_.empty()) {
    if (begin_error_) std::rethrow_exception(begin_error_);
    return nullptr;
  }
  std::unique_ptr<Chunk> chunk = std::move(jobs_.front()->chunk);
  jobs_.pop_front();
  lock.unlock();
  can_work_.notify_all();
  return chunk;
}

void Crew::give(std::unique_ptr<Chunk> chunk) {
  const std::lock_guard lock(mutex_);
  spare_.push_back(std::move(chunk));
}

std::unique_ptr<Chunk> Crew::fill_here() {
  std::unique_ptr<Chunk> chunk = std::make_unique<Chunk>();
  if (!spare_.empty()) {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
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
    if (Job* job = job_with_rows())
      work_on(*job, scratch, lock);
    else if (!beginning_ && !ended_ && jobs_.size() < ahead_)
      begin_job(lock);
    else
      can_work_.wait(lock);
  }
}

Crew::Job* Crew::job_with_rows() {
  for (const auto& job : jobs_) {
    if (job->next_row < job->chunk->count) return job.get();
  }
  return nullptr;
}

void Crew::work_on(Job& job, Scratch& scratch, std::unique_lock<std::mutex>& lock) {
  const int64_t from = job.next_row;
  const int64_t to = std::min(from + maker_.grain(), job.chunk->count);
  job.next_row = to;
  lock.unlock();
  maker_.work(*job.chunk, from, to, scratch, error_mutex_);
  lock.lock();
  job.rows_done += to - from;
  if (job.rows_done == job.chunk->count) can_take_.notify_one();
}

void Crew::begin_job(std::unique_lock<std::mutex>& lock) {
  beginning_ = true;
  std::unique_ptr<Job> job;
  bool more = false;
  std::exception_ptr error;
  std::unique_ptr<Chunk> chunk;
  if (!spare_.empty()) {
    chunk = std::move(spare_.back());
    spare_.pop_back();
  }
  lock.unlock();
  try {
    if (chunk == nullptr) chunk = std::make_unique<Chunk>();
    more = maker_.begin(*chunk);
    if (more) job = std::make_unique<Job>(Job{std::move(chunk)});
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  beginning_ = false;
  if (job != nullptr) {
    try {
      jobs_.push_back(std::move(job));
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
