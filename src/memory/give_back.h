// Gives back to the system what can be made again: what Reclaimers keep (Programs, kernels of eager ops), free
// blocks, and pages of code that are in the file anyhow. Any thread.
#pragma once

namespace plimsoll {

void give_back_memory() noexcept;

}  // namespace plimsoll
