// SwapEMAWeights: the averages of an optimizer with use_ema in the place of the weights, while they are
// looked at.
#include "plimsoll/error.h"
#include "plimsoll/model.h"
#include "train/model_body.h"

namespace plimsoll {
namespace {

class SwapAverages final : public Callback {
 public:
  explicit SwapAverages(bool on_epoch) : on_epoch_(on_epoch) {}
  bool wants_batch_logs() const override { return false; }
  void on_epoch_begin(int64_t) override {
    if (on_epoch_) put_averages(false);
  }
  void on_epoch_end(int64_t epoch, Logs&) override {
    if (!on_epoch_) return;
    put_averages(true);
    if (epoch == info().epochs - 1) optimizer().keep_averages(weights());
  }
  void on_test_begin() override { put_averages(true); }
  void on_test_end(const Logs&) override { put_averages(false); }
  void on_predict_begin() override { put_averages(true); }
  void on_predict_end() override { put_averages(false); }

 private:
  OptimizerState& optimizer() const {
    require(model().compiled() && model().body().trainer.optimizer().optimizer()->use_ema, "SwapEMAWeights",
            "expected a model that was compiled with an optimizer with use_ema = true");
    return model().body().trainer.optimizer();
  }
  std::vector<VariablePtr> weights() const { return model().network()->trainable_weights(); }
  void put_averages(bool in) {
    OptimizerState& state = optimizer();
    if (in == in_model_) return;
    state.swap_averages(weights());
    in_model_ = in;
  }

  bool on_epoch_, in_model_ = false;
};

}  // namespace

CallbackPtr SwapEMAWeights(const SwapEMAWeightsOptions& options) {
  return std::make_shared<SwapAverages>(options.swap_on_epoch);
}

}  // namespace plimsoll
