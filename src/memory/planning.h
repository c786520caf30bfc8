// Planning: while one lives, charges of this thread to the account are taken even above the line. A plan
// takes little, and the refusal that comes of it has the numbers.
#pragma once

namespace plimsoll::account {

class Planning {
 public:
  Planning() noexcept;
  ~Planning();
  Planning(const Planning&) = delete;
  Planning& operator=(const Planning&) = delete;
};

}  // namespace plimsoll::account
