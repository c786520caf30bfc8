// What this plug-in uses of NVIDIA's libraries, declared here so that it builds where no toolkit is
// installed: the driver (libcuda), NVML (which comes with it), NVRTC, cuBLASLt and cuDNN. Their binary
// interfaces are stable within a major version; abi_check.cpp compares these declarations with NVIDIA's
// headers where those are there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace plimsoll::cuda {

// ---- the driver

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
using CUcontext = CUctx_st*;
using CUmodule = CUmod_st*;
using CUfunction = CUfunc_st*;
using CUstream = CUstream_st*;
using CUevent = CUevent_st*;
using CUgraph = CUgraph_st*;
using CUgraphExec = CUgraphExec_st*;

inline constexpr CUresult kSuccess = 0, kOutOfMemory = 2, kNoDevice = 100;
inline constexpr int kMultiprocessors = 16, kMajor = 75, kMinor = 76,
                     kSharedPerBlock = 97;     // CUdevice_attribute
inline constexpr int kMostSharedMemory = 8;    // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
inline constexpr unsigned kNonBlocking = 1;    // CU_STREAM_NON_BLOCKING
inline constexpr int kCaptureThreadLocal = 1;  // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL

// X(the name here, the symbol, its parameters); all return a CUresult.
#define PLIMSOLL_CUDA_DRIVER(X)                                                                           \
  X(init, cuInit, (unsigned))                                                                             \
  X(driver_version, cuDriverGetVersion, (int*))                                                           \
  X(error_name, cuGetErrorName, (CUresult, const char**))                                                 \
  X(error_string, cuGetErrorString, (CUresult, const char**))                                             \
  X(device_count, cuDeviceGetCount, (int*))                                                               \
  X(device_get, cuDeviceGet, (CUdevice*, int))                                                            \
  X(device_name, cuDeviceGetName, (char*, int, CUdevice))                                                 \
  X(device_attribute, cuDeviceGetAttribute, (int*, int, CUdevice))                                        \
  X(context_retain, cuDevicePrimaryCtxRetain, (CUcontext*, CUdevice))                                     \
  X(context_release, cuDevicePrimaryCtxRelease_v2, (CUdevice))                                            \
  X(context_push, cuCtxPushCurrent_v2, (CUcontext))                                                       \
  X(context_pop, cuCtxPopCurrent_v2, (CUcontext*))                                                        \
  X(memory_info, cuMemGetInfo_v2, (size_t*, size_t*))                                                     \
  X(memory_allocate, cuMemAlloc_v2, (CUdeviceptr*, size_t))                                               \
  X(memory_free, cuMemFree_v2, (CUdeviceptr))                                                             \
  X(host_allocate, cuMemAllocHost_v2, (void**, size_t))                                                   \
  X(host_free, cuMemFreeHost, (void*))                                                                    \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void*, size_t, CUstream))                   \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, (void*, CUdeviceptr, size_t, CUstream))                           \
  X(copy_on_device, cuMemcpyDtoDAsync_v2, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                   \
  X(fill, cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream))                                \
  X(stream_create, cuStreamCreate, (CUstream*, unsigned))                                                 \
  X(stream_destroy, cuStreamDestroy_v2, (CUstream))                                                       \
  X(stream_synchronize, cuStreamSynchronize, (CUstream))                                                  \
  X(stream_wait_event, cuStreamWaitEvent, (CUstream, CUevent, unsigned))                                  \
  X(capture_begin, cuStreamBeginCapture_v2, (CUstream, int))                                              \
  X(capture_end, cuStreamEndCapture, (CUstream, CUgraph*))                                                \
  X(event_create, cuEventCreate, (CUevent*, unsigned))                                                    \
  X(event_destroy, cuEventDestroy_v2, (CUevent))                                                          \
  X(event_record, cuEventRecord, (CUevent, CUstream))                                                     \
  X(event_synchronize, cuEventSynchronize, (CUevent))                                                     \
  X(event_elapsed, cuEventElapsedTime, (float*, CUevent, CUevent))                                        \
  X(module_load, cuModuleLoadData, (CUmodule*, const void*))                                              \
  X(module_unload, cuModuleUnload, (CUmodule))                                                            \
  X(module_function, cuModuleGetFunction, (CUfunction*, CUmodule, const char*))                           \
  X(launch, cuLaunchKernel,                                                                               \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,  \
     void**))                                                                                             \
  X(launch_cooperative, cuLaunchCooperativeKernel,                                                        \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**)) \
  X(function_set, cuFuncSetAttribute, (CUfunction, int, int))                                             \
  X(graph_instantiate, cuGraphInstantiateWithFlags, (CUgraphExec*, CUgraph, unsigned long long))          \
  X(graph_launch, cuGraphLaunch, (CUgraphExec, CUstream))                                                 \
  X(graph_exec_destroy, cuGraphExecDestroy, (CUgraphExec))                                                \
  X(graph_destroy, cuGraphDestroy, (CUgraph))                                                             \
  X(bus_id, cuDeviceGetPCIBusId, (char*, int, CUdevice))

// ---- NVML: who uses a GPU; all return 0 on success

struct nvmlDevice_st;
using NvmlDevice = nvmlDevice_st*;
struct NvmlProcess {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

#define PLIMSOLL_CUDA_NVML(X)                                                \
  X(init, nvmlInit_v2, ())                                                   \
  X(shutdown, nvmlShutdown, ())                                              \
  X(device_at, nvmlDeviceGetHandleByPciBusId_v2, (const char*, NvmlDevice*)) \
  X(processes, nvmlDeviceGetComputeRunningProcesses_v3, (NvmlDevice, unsigned*, NvmlProcess*))

// ---- NVRTC: all return 0 on success

struct _nvrtcProgram;
using nvrtcProgram = _nvrtcProgram*;

#define PLIMSOLL_CUDA_NVRTC(X)                                                              \
  X(version, nvrtcVersion, (int*, int*))                                                    \
  X(create, nvrtcCreateProgram,                                                             \
    (nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(destroy, nvrtcDestroyProgram, (nvrtcProgram*))                                          \
  X(compile, nvrtcCompileProgram, (nvrtcProgram, int, const char* const*))                  \
  X(code_size, nvrtcGetCUBINSize, (nvrtcProgram, size_t*))                                  \
  X(code, nvrtcGetCUBIN, (nvrtcProgram, char*))                                             \
  X(log_size, nvrtcGetProgramLogSize, (nvrtcProgram, size_t*))                              \
  X(log, nvrtcGetProgramLog, (nvrtcProgram, char*))                                         \
  X(architecture_count, nvrtcGetNumSupportedArchs, (int*))                                  \
  X(architectures, nvrtcGetSupportedArchs, (int*))

// ---- cuBLASLt

struct cublasLtContext;
using cublasLtHandle_t = cublasLtContext*;
struct Lt_opaque;  // descriptors are made and destroyed by the library
using LtObject = Lt_opaque*;
struct LtAlgorithm {
  uint64_t data[8];
};
struct LtHeuristic {
  LtAlgorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
inline constexpr int kCompute32F = 68, kCompute64F = 70, kComputeTF32 = 77;     // cublasComputeType_t
inline constexpr int kReal32F = 0, kReal64F = 1, kReal16F = 2, kReal16BF = 14;  // cudaDataType
inline constexpr int kLayoutBatchCount = 5, kLayoutBatchStride = 6;        // cublasLtMatrixLayoutAttribute_t
inline constexpr int kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7,  // cublasLtMatmulDescAttributes_t
    kDescBiasPointer = 8, kDescBiasType = 26;
inline constexpr int kPreferenceWorkspace = 1, kPreferenceAlignA = 5, kPreferenceAlignB = 6,
                     kPreferenceAlignC = 7, kPreferenceAlignD = 8;
inline constexpr int kEpilogueBias = 4, kEpilogueReluBias = 6;
inline constexpr int kTranspose = 1;  // CUBLAS_OP_T

#define PLIMSOLL_CUDA_LT(X)                                                                                  \
  X(create, cublasLtCreate, (cublasLtHandle_t*))                                                             \
  X(destroy, cublasLtDestroy, (cublasLtHandle_t))                                                            \
  X(layout_create, cublasLtMatrixLayoutCreate, (LtObject*, int, uint64_t, uint64_t, int64_t))                \
  X(layout_destroy, cublasLtMatrixLayoutDestroy, (LtObject))                                                 \
  X(layout_set, cublasLtMatrixLayoutSetAttribute, (LtObject, int, const void*, size_t))                      \
  X(desc_create, cublasLtMatmulDescCreate, (LtObject*, int, int))                                            \
  X(desc_destroy, cublasLtMatmulDescDestroy, (LtObject))                                                     \
  X(desc_set, cublasLtMatmulDescSetAttribute, (LtObject, int, const void*, size_t))                          \
  X(preference_create, cublasLtMatmulPreferenceCreate, (LtObject*))                                          \
  X(preference_destroy, cublasLtMatmulPreferenceDestroy, (LtObject))                                         \
  X(preference_set, cublasLtMatmulPreferenceSetAttribute, (LtObject, int, const void*, size_t))              \
  X(heuristic, cublasLtMatmulAlgoGetHeuristic,                                                               \
    (cublasLtHandle_t, LtObject, LtObject, LtObject, LtObject, LtObject, LtObject, int, LtHeuristic*, int*)) \
  X(matmul, cublasLtMatmul,                                                                                  \
    (cublasLtHandle_t, LtObject, const void*, const void*, LtObject, const void*, LtObject, const void*,     \
     const void*, LtObject, void*, LtObject, const LtAlgorithm*, void*, size_t, CUstream))

// ---- cuDNN 9: its graph interface

struct cudnnContext;
using cudnnHandle_t = cudnnContext*;
using DnnObject = void*;  // cudnnBackendDescriptor_t

#define PLIMSOLL_CUDA_DNN(X)                                                        \
  X(create, cudnnCreate, (cudnnHandle_t*))                                          \
  X(destroy, cudnnDestroy, (cudnnHandle_t))                                         \
  X(set_stream, cudnnSetStream, (cudnnHandle_t, CUstream))                          \
  X(object_create, cudnnBackendCreateDescriptor, (int, DnnObject*))                 \
  X(object_destroy, cudnnBackendDestroyDescriptor, (DnnObject))                     \
  X(finalize, cudnnBackendFinalize, (DnnObject))                                    \
  X(set, cudnnBackendSetAttribute, (DnnObject, int, int, int64_t, const void*))     \
  X(get, cudnnBackendGetAttribute, (DnnObject, int, int, int64_t, int64_t*, void*)) \
  X(execute, cudnnBackendExecute, (cudnnHandle_t, DnnObject, DnnObject))

#define PLIMSOLL_CUDA_POINTER(name, symbol, parameters) int(*name) parameters = nullptr;
struct Driver {
  PLIMSOLL_CUDA_DRIVER(PLIMSOLL_CUDA_POINTER)
};
struct Nvml {
  PLIMSOLL_CUDA_NVML(PLIMSOLL_CUDA_POINTER)
};
struct Nvrtc {
  PLIMSOLL_CUDA_NVRTC(PLIMSOLL_CUDA_POINTER)
};
struct CublasLt {
  PLIMSOLL_CUDA_LT(PLIMSOLL_CUDA_POINTER)
  size_t (*version)() = nullptr;  // cublasLtGetVersion
};
struct Cudnn {
  PLIMSOLL_CUDA_DNN(PLIMSOLL_CUDA_POINTER)
  size_t (*version)() = nullptr;  // cudnnGetVersion
};
#undef PLIMSOLL_CUDA_POINTER

}  // namespace plimsoll::cuda
