// A GPU as the plug-in has it: its context, the code compiled for it, and the plug-in's other objects.
#pragma once

#include <memory>
#include <string>

#include "api.h"
#include "fault.h"
#include "kernels.h"
#include "plimsoll/device.h"
#include "tuning.h"

// From the environment variable PLIMSOLL_CUDA, a list with commas.
struct CudaOptions {
  bool tf32 = false;           // products of float32 matrices may be computed in TF32
  bool deterministic = false;  // only convolutions that give the same bits in every run; all else does
  bool no_graphs = false;      // every run launches its kernels one by one
  bool no_tuning = false;      // algorithms as the libraries propose them, without timing others
};

struct plimsoll_device {
  explicit plimsoll_device(int32_t index);
  ~plimsoll_device();
  plimsoll_device(const plimsoll_device&) = delete;
  plimsoll_device& operator=(const plimsoll_device&) = delete;

  // Made at their first use; any thread. Null if there is no cuDNN.
  plimsoll::cuda::cublasLtHandle_t lt();
  plimsoll::cuda::cudnnHandle_t dnn();

  CudaOptions options;
  plimsoll::cuda::CUdevice number = 0;
  plimsoll::cuda::CUcontext context = nullptr;
  int multiprocessors = 0, capability = 0;  // capability: 90 for 9.0
  int64_t shared_bytes = 0;                 // of shared memory that a block may have
  std::string name;
  std::unique_ptr<plimsoll::cuda::Kernels> kernels;
  std::unique_ptr<plimsoll::cuda::Tuning> tuning;  // null if nothing is to be timed

 private:
  void check_architecture() const;
  std::string tuning_file() const;

  std::mutex mutex_;
  plimsoll::cuda::cublasLtHandle_t lt_ = nullptr;
  plimsoll::cuda::cudnnHandle_t dnn_ = nullptr;
};

struct plimsoll_buffer {
  plimsoll::cuda::CUdeviceptr at;
  int64_t bytes;
};
struct plimsoll_stream {
  plimsoll_device* device;
  plimsoll::cuda::CUstream handle;
};
struct plimsoll_event {
  plimsoll_device* device;
  plimsoll::cuda::CUevent handle;
};

namespace plimsoll::cuda {

// The calling thread uses this device as long as the object lives; what it used before comes back.
class Use {
 public:
  explicit Use(const plimsoll_device* device) { check(driver().context_push(device->context), "context"); }
  ~Use() {
    CUcontext popped = nullptr;
    driver().context_pop(&popped);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
};

inline CUdeviceptr address(plimsoll_slice slice) {
  return slice.buffer == nullptr ? 0 : slice.buffer->at + static_cast<CUdeviceptr>(slice.offset);
}

}  // namespace plimsoll::cuda
