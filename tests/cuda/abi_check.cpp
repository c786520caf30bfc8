// devices/cuda/api.h beside NVIDIA's headers: compiled where those are installed, never run.
#include <cublasLt.h>
#include <cuda.h>
#include <cudnn.h>

namespace ours {
#include "api.h"
}  // namespace ours

#define SAME(a, b) static_assert(static_cast<int>(a) == static_cast<int>(b))

using namespace ours::plimsoll::cuda;

SAME(ours::plimsoll::cuda::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(kNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(kMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(kMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(kSharedPerBlock, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(kMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(kMostSharedMemory, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(kNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
SAME(kCompute32F, CUBLAS_COMPUTE_32F);
SAME(kCompute64F, CUBLAS_COMPUTE_64F);
SAME(kComputeTF32, CUBLAS_COMPUTE_32F_FAST_TF32);
SAME(kReal32F, CUDA_R_32F);
SAME(kReal64F, CUDA_R_64F);
SAME(kReal16F, CUDA_R_16F);
SAME(kReal16BF, CUDA_R_16BF);
SAME(kLayoutBatchCount, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
SAME(kLayoutBatchStride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
SAME(kDescTransA, CUBLASLT_MATMUL_DESC_TRANSA);
SAME(kDescTransB, CUBLASLT_MATMUL_DESC_TRANSB);
SAME(kDescEpilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
SAME(kDescBiasPointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
SAME(kDescBiasType, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE);
SAME(kPreferenceWorkspace, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
SAME(kPreferenceAlignA, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
SAME(kPreferenceAlignB, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
SAME(kPreferenceAlignC, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
SAME(kPreferenceAlignD, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
SAME(kEpilogueBias, CUBLASLT_EPILOGUE_BIAS);
SAME(kEpilogueReluBias, CUBLASLT_EPILOGUE_RELU_BIAS);
SAME(kTranspose, CUBLAS_OP_T);
static_assert(sizeof(LtAlgorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(LtHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t) &&
              offsetof(LtHeuristic, workspace) == offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
