// NVIDIA's libraries, found when they are first needed: by the loader, in the folders that
// PLIMSOLL_CUDA_LIBRARIES lists, in CUDA's own folder, and in the wheels (nvidia-*) of an active environment.
// They stay loaded until the process ends: their threads and handles do not survive being taken out.
#pragma once

#include <string>

#include "api.h"

namespace plimsoll::cuda {

// Throw Error{unsupported} that says which library is missing and where to get it; any thread. The driver is
// initialised. NVRTC and cuBLASLt are of a CUDA that it knows.
const Driver& driver();
const Nvrtc& nvrtc();
const CublasLt& cublas_lt();
const Nvml* nvml();    // null if there is none
const Cudnn* cudnn();  // null if there is none: convolutions then run by a plain kernel

}  // namespace plimsoll::cuda
