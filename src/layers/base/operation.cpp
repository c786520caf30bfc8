#include "layers/base/operation.h"

#include "layers/base/json_parts.h"
#include "layers/base/operands.h"

namespace plimsoll {

using Json = ConfigJson;

ConfigJson tensor_mark(size_t i) { return Json::binary({}, i); }

std::optional<size_t> marked_tensor(const Json& json) {
  if (!json.is_binary()) return {};
  return json.get_binary().subtype();
}

bool is_operation(const Json& layer) { return text_of(layer, "module").find(".ops.") != std::string::npos; }

std::string module_of_operation(std::string_view class_name) {
  constexpr std::pair<std::string_view, std::string_view> kModules[] = {
      {"nn",
       " AdaptiveAveragePool AdaptiveMaxPool AveragePool BatchNorm BinaryCrossentropy CategoricalCrossentropy "
       "Celu Conv DepthToSpace DepthwiseConv DotProductAttention Elu Gelu Glu HardShrink HardSigmoid HardSilu "
       "HardTanh LayerNorm LeakyRelu LogSigmoid LogSoftmax MaxPool Moments MultiHot Normalize OneHot PSNR Polar "
       "RMSNorm Relu Relu6 Selu SeparableConv Sigmoid Silu SoftShrink Softmax Softplus Softsign SpaceToDepth "
       "SparseCategoricalCrossentropy SparsePlus SparseSigmoid Sparsemax Squareplus TanhShrink Threshold Unfold "},
      {"math",
       " CDist Erf Erfc Erfinv ExtractSequences FFT FFT2 IFFT2 IRFFT InTopK Logdet Logsumexp RFFT Rsqrt STFT "
       "SegmentMax SegmentMin SegmentProd SegmentSum TopK ViewAsComplex ViewAsReal "},
      {"core", " Cast ConvertToTensor SaturateCast Scatter ScatterUpdate Slice SliceUpdate StopGradient Unstack "},
      {"linalg", " Cholesky CholeskyInverse Det Eigh Inv LuFactor Norm Pinv Qr SVD Solve SolveTriangular "},
      {"image",
       " AffineTransform CropImages ExtractPatches GaussianBlur HSVToRGB PadImages RGBToGrayscale RGBToHSV Resize "}};
  const std::string word = concat(" ", class_name, " ");
  for (const auto& [module, classes] : kModules) {
    if (classes.find(word) != std::string_view::npos) return concat("keras.src.ops.", module);
  }
  return "keras.src.ops.numpy";
}

Operation::Operation(const Json& layer, OperationCall call)
    : module_(text_of(layer, "module")), class_name_(text_of(layer, "class_name")), call_(std::move(call)) {
  if (const Json* config = find(layer, "config")) config_ = *config;
  set_name(text_of(config_, "name"));
  if (name().empty()) set_name(text_of(layer, "name"));
  if (!has_operation(class_name_)) {
    fail(ErrorKind::unsupported, name(), "the function ", module_, ".", class_name_,
         " is not known; register a C++ layer in its place, or cut the model before it");
  }
}

std::vector<Tensor> Operation::call_many(Scope& s, std::span<const Tensor> xs) {
  return call_operation(class_name_, Operands(s, *this, config_, call_, xs));
}

Json Operation::to_json() const {
  Json config = config_.is_object() ? config_ : Json::object();
  config["name"] = name();
  return {
      {"module", module_}, {"class_name", class_name_}, {"config", config}, {"registered_name", class_name_}};
}

}  // namespace plimsoll
