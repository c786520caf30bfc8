// TensorBoard: what fit() logs, as event files.
#include <memory>

#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/callbacks/event_file.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

class Board final : public Callback {
 public:
  Board(std::string folder, const TensorBoardOptions& o) : folder_(std::move(folder)), o_(o) {}
  bool wants_batch_logs() const override { return o_.update_freq > 0; }

  void on_train_begin() override {
    batches_ = 0;
    if (o_.write_graph) train().keras_model(model().to_json());
  }
  void on_train_batch_end(int64_t, const Logs& logs) override {
    ++batches_;
    if (o_.update_freq == 0 || batches_ % o_.update_freq != 0) return;
    for (const auto& [name, value] : logs) train().scalar("batch_" + name, value, batches_);
  }
  void on_epoch_end(int64_t epoch, Logs& logs) override {
    constexpr std::string_view kValidation = "val_";
    for (const auto& [name, value] : logs) {
      if (name.starts_with(kValidation))
        validation().scalar("epoch_" + name.substr(kValidation.size()), value, epoch);
      else
        train().scalar("epoch_" + name, value, epoch);
    }
    if (find_log(logs, "learning_rate") == nullptr)
      train().scalar("epoch_learning_rate", model().learning_rate(), epoch);
  }
  void on_test_end(const Logs& logs) override {
    if (!model().compiled()) return;
    const double steps = model().body().trainer.optimizer().iterations()->value.item();
    for (const auto& [name, value] : logs) {
      validation().scalar("evaluation_" + name + "_vs_iterations", value, static_cast<int64_t>(steps));
    }
  }
  void on_train_end(const Logs&) override {
    train_.reset();
    validation_.reset();
  }

 private:
  EventFile& train() { return opened(train_, "train"); }
  EventFile& validation() { return opened(validation_, "validation"); }
  EventFile& opened(std::unique_ptr<EventFile>& file, const char* part) const {
    if (file == nullptr) file = std::make_unique<EventFile>(std::filesystem::path(folder_) / part);
    return *file;
  }

  std::string folder_;
  TensorBoardOptions o_;
  int64_t batches_ = 0;
  std::unique_ptr<EventFile> train_, validation_;
};

}  // namespace

CallbackPtr TensorBoard(const std::string& log_dir, const TensorBoardOptions& options) {
  require(options.histogram_freq == 0, "TensorBoard",
          "expected histogram_freq 0: histograms of weights are not written");
  require(options.update_freq >= 0, "TensorBoard", "expected update_freq >= 0, got ", options.update_freq);
  return std::make_shared<Board>(log_dir, options);
}

}  // namespace plimsoll
