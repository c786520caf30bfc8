#include <cstring>

#include "data/sources.h"
#include "plimsoll/error.h"

namespace plimsoll::data {
namespace {

class GeneratorStream final : public RawStream {
 public:
  GeneratorStream(Dataset::Generator generator, const RecordTypes& types)
      : generator_(std::move(generator)), types_(flat_types(types)) {
    for (const TensorType& type : types_) bytes_ += byte_size(type.dtype, type.shape);
  }

  bool next(RawRecord& raw) override {
    Record record;
    record.position = position_;
    if (!generator_(record)) return false;
    const auto tensors = flat(record);
    require(tensors.size() == types_.size(), "dataset.generator", "expected ", types_.size(),
            " tensors in record ", position_, ", got ", tensors.size());
    char* to = raw.bytes.resize(bytes_);
    for (size_t i = 0; i < types_.size(); ++i) {
      require(tensors[i]->defined() && tensors[i]->type() == types_[i], "dataset.generator", "expected ",
              types_[i], " in record ", position_, ", got ",
              tensors[i]->defined() ? tensors[i]->type().str() : "nothing");
      const auto bytes = static_cast<size_t>(byte_size(types_[i].dtype, types_[i].shape));
      if (bytes > 0) std::memcpy(to, tensors[i]->data(), bytes);
      to += bytes;
    }
    raw.place = position_++;
    return true;
  }

 private:
  Dataset::Generator generator_;
  std::vector<TensorType> types_;
  int64_t bytes_ = 0;
  int64_t position_ = 0;
};

class GeneratorSource final : public Source {
 public:
  GeneratorSource(std::function<Dataset::Generator(int64_t)> open, RecordTypes types)
      : Source(std::move(types)), open_(std::move(open)) {}

  std::unique_ptr<RawStream> open(int64_t epoch) const override {
    Dataset::Generator generator = open_(epoch);
    require(generator != nullptr, "dataset.generator", "expected a function for epoch ", epoch, ", got none");
    return std::make_unique<GeneratorStream>(std::move(generator), types());
  }

  void decode(const RawRecord& record, const Rows& to, int64_t row) const override {
    copy_packed(record.bytes.data(), to, row);
  }

 private:
  std::function<Dataset::Generator(int64_t)> open_;
};

}  // namespace

SourcePtr generator_source(std::function<Dataset::Generator(int64_t)> open, RecordTypes types) {
  require(open != nullptr, "dataset.generator", "expected a function that opens the stream, got none");
  require(!types.x.empty(), "dataset.generator", "expected at least one type for x, got none");
  return std::make_shared<GeneratorSource>(std::move(open), std::move(types));
}

}  // namespace plimsoll::data
