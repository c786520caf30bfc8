// Kept: things that take time to make ready (Programs, kernels of eager ops), those last used: as many as
// keep_within() allows, and fewer when the account would have to refuse something else. A thing is lent to
// one user at a time and is not given up meanwhile. May be used from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "memory/account.h"

namespace plimsoll {

// Mutex: one for a Kept that lives as long as the process is a ForkMutex.
template <class T, class Mutex = std::mutex>
class Kept final : account::Reclaimer {
  struct Item final : account::Reclaimer::Thing {
    Item(size_t h, T&& v, int64_t b) : hash(h), value(std::move(v)), bytes(b) {}
    size_t hash;
    T value;
    int64_t bytes;
    std::atomic<bool> lent{true};
  };

 public:
  // The thing, as long as this lives.
  class Loan {
   public:
    Loan() = default;
    Loan(Loan&& other) noexcept : item_(std::exchange(other.item_, nullptr)) {}
    Loan& operator=(Loan&& other) noexcept {
      std::swap(item_, other.item_);
      return *this;
    }
    ~Loan() {
      if (item_ != nullptr) item_->lent.store(false, std::memory_order_release);
    }
    explicit operator bool() const { return item_ != nullptr; }
    T& operator*() const { return item_->value; }
    T* operator->() const { return &item_->value; }

   private:
    friend class Kept;
    explicit Loan(Item* item) : item_(item) {}
    Item* item_ = nullptr;
  };

  Kept() { begin_reclaiming(); }
  ~Kept() { end_reclaiming(); }

  // A thing with this hash for which same(thing) holds, unless others use all such.
  template <class Same>
  Loan find(size_t hash, const Same& same) {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = index_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      Item& item = **it->second;
      if (item.lent.load(std::memory_order_acquire) || !same(item.value)) continue;
      item.lent.store(true, std::memory_order_relaxed);
      items_.splice(items_.begin(), items_, it->second);
      return Loan(&item);
    }
    return {};
  }

  // Whether there is such a thing, in use or not. It may be gone by the time the caller knows.
  template <class Same>
  bool has(size_t hash, const Same& same) const {
    const std::lock_guard lock(mutex_);
    const auto [first, last] = index_.equal_range(hash);
    return std::any_of(first, last, [&](const auto& entry) { return same((*entry.second)->value); });
  }

  // `bytes`: what giving it up brings.
  Loan add(size_t hash, T&& value, int64_t bytes) {
    Items made;
    made.push_back(std::make_unique<Item>(hash, std::move(value), bytes));
    Loan loan(made.front().get());
    const std::lock_guard lock(mutex_);
    index_.emplace(hash, made.begin());
    items_.splice(items_.begin(), made);
    bytes_ += bytes;
    return loan;
  }

  // While held, only the thread that holds them gives them up: what another one charges is refused instead.
  void hold(bool on) {
    const std::lock_guard lock(mutex_);
    holder_ = on ? std::this_thread::get_id() : std::thread::id();
  }

  // Gives up those whose last use is longest ago until the rest is of `most` bytes.
  void keep_within(int64_t most) noexcept {
    while (bytes() > most && give_up_one() != nullptr) {
    }
  }

  // Drops those that nobody uses and for which drop(thing) holds.
  template <class Drop>
  void drop_if(const Drop& drop) {
    Items dropped;  // and with them, after the lock is given back, what they hold
    const std::lock_guard lock(mutex_);
    for (auto it = items_.begin(); it != items_.end();) {
      const auto next = std::next(it);
      if (!(*it)->lent.load(std::memory_order_acquire) && drop((*it)->value)) take_out(it, dropped);
      it = next;
    }
  }

  int64_t bytes() const {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }
  size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }

 private:
  using Items = std::list<std::unique_ptr<Item>>;

  // The one whose last use is longest ago.
  std::unique_ptr<Thing> give_up_one() noexcept override {
    Items given_up;
    const std::lock_guard lock(mutex_);
    if (holder_ != std::thread::id() && holder_ != std::this_thread::get_id()) return nullptr;
    for (auto it = items_.end(); it != items_.begin();) {
      --it;
      if ((*it)->lent.load(std::memory_order_acquire)) continue;
      take_out(it, given_up);
      return std::move(given_up.front());
    }
    return nullptr;
  }

  void take_out(typename Items::iterator it, Items& to) noexcept {
    auto [entry, last] = index_.equal_range((*it)->hash);
    while (entry != last && entry->second != it) ++entry;
    index_.erase(entry);
    bytes_ -= (*it)->bytes;
    to.splice(to.begin(), items_, it);
  }

  mutable Mutex mutex_;
  Items items_;  // the last used first
  std::unordered_multimap<size_t, typename Items::iterator> index_;
  int64_t bytes_ = 0;
  std::thread::id holder_;
};

}  // namespace plimsoll
