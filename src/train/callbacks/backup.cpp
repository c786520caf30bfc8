// BackupAndRestore.
#include <cstring>
#include <filesystem>

#include "common/files.h"
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/checkpoint.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

Tensor numbers(std::span<const double> values) {
  return Tensor::from<double>(values, Shape{std::ssize(values)});
}

class BackupCallback final : public Callback {
 public:
  BackupCallback(const std::string& folder, const BackupAndRestoreOptions& o) : folder_(folder), o_(o) {
    require(!folder.empty(), "BackupAndRestore", "expected a folder, got an empty path");
    require(o.save_freq >= 0, "BackupAndRestore", "expected save_freq >= 0, got ", o.save_freq);
  }
  bool wants_batch_logs() const override { return false; }
  void on_train_begin() override {
    make_folder(folder_);
    std::error_code error;
    if (std::filesystem::exists(file(), error)) restore();
  }
  void on_train_batch_end(int64_t, const Logs&) override {
    if (o_.save_freq == 0 || ++batches_ < o_.save_freq) return;
    batches_ = 0;
    save();
  }
  void on_epoch_end(int64_t, Logs&) override {
    if (o_.save_freq == 0) save();
  }
  void on_train_end(const Logs&) override {
    if (o_.delete_checkpoint && !model().body().interrupted) remove_folder(folder_);
  }
  bool comes_last() const override { return true; }
  CallbackState state() const override { return {{double(batches_)}}; }
  void set_state(const CallbackState& s) override {
    if (s.numbers.size() == 1) batches_ = static_cast<int64_t>(s.numbers[0]);
  }

 private:
  std::filesystem::path file() const { return folder_ / "latest.ckpt"; }

  // The model's own tensors, by place and name; those of the same model have the same names and types.
  std::vector<NamedTensor> variables() const {
    std::vector<NamedTensor> all;
    const auto add = [&](std::string_view group, const std::vector<VariablePtr>& list) {
      for (size_t i = 0; i < list.size(); ++i)
        all.push_back({concat(group, "/", i, "/", list[i]->name), list[i]->value});
    };
    const Trainer& trainer = model().body().trainer;
    add("model", trainer.network()->all_variables());
    add("optimizer", trainer.optimizer().variables());
    add("metrics", trainer.metric_states());
    return all;
  }

  void save() {
    const FitPosition& p = model().body().position;
    std::vector<NamedTensor> records = variables();
    const int64_t place[] = {p.epoch,
                             p.step,
                             p.data_epoch,
                             p.data_batch,
                             static_cast<int64_t>(p.data_seed),
                             model().body().stop_training};
    records.push_back({"position", Tensor::from<int64_t>(place, Shape{6})});
    const std::vector<CallbackPtr>& callbacks = model().body().callbacks;
    for (size_t i = 0; i < callbacks.size(); ++i) {
      const CallbackState state = callbacks[i]->state();
      records.push_back({concat("callback/", i), numbers(state.numbers)});
      for (const Tensor& t : state.tensors) records.push_back({concat("callback/", i, "/tensor"), t});
    }
    write_checkpoint(file(), records);
  }

  void restore() {
    const std::vector<NamedTensor> records = read_checkpoint(file());
    const std::vector<NamedTensor> own = variables();
    const auto other = [&](const std::string& what) {
      fail(ErrorKind::bad_file, file().string(), "was written for another model or optimizer: ", what,
           "; remove it to train from the beginning");
    };
    if (records.size() < own.size() + 1) other(concat("it has ", records.size(), " records"));
    for (size_t i = 0; i < own.size(); ++i) {
      if (records[i].name != own[i].name || records[i].value.type() != own[i].value.type()) {
        other(concat("expected ", own[i].name, " ", own[i].value.type(), ", got ", records[i].name, " ",
                     records[i].value.type()));
      }
    }
    const NamedTensor& place = records[own.size()];
    if (place.name != "position" || place.value.type() != TensorType{DType::i64, Shape{6}})
      other("it has no position");
    // Everything fits: from here on nothing throws.
    for (size_t i = 0; i < own.size(); ++i) {
      std::memcpy(own[i].value.data(), records[i].value.data(),
                  static_cast<size_t>(byte_size(own[i].value.dtype(), own[i].value.shape())));
    }
    const int64_t* p = place.value.data<int64_t>();
    ModelBody& body = model().body();
    body.position = {p[0], p[1], p[2], p[3], static_cast<uint64_t>(p[4])};
    body.stop_training = p[5] != 0;
    for (size_t i = 0; i < body.callbacks.size(); ++i) {
      const std::string name = concat("callback/", i);
      CallbackState state;
      for (size_t k = own.size() + 1; k < records.size(); ++k) {
        const Tensor& t = records[k].value;
        if (records[k].name == name + "/tensor") state.tensors.push_back(t);
        if (records[k].name == name && t.dtype() == DType::f64)
          state.numbers.assign(t.data<double>(), t.data<double>() + t.shape().elements());
      }
      body.callback_states.push_back(std::move(state));
    }
  }

  std::filesystem::path folder_;
  BackupAndRestoreOptions o_;
  int64_t batches_ = 0;
};

}  // namespace

CallbackPtr BackupAndRestore(const std::string& backup_dir, const BackupAndRestoreOptions& options) {
  return std::make_shared<BackupCallback>(backup_dir, options);
}

}  // namespace plimsoll
