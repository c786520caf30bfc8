// IoU, MeanIoU, BinaryIoU, OneHotIoU, OneHotMeanIoU: of each class, what targets and predictions share by
// what either has.
#include <algorithm>
#include <span>

#include "plimsoll/error.h"
#include "plimsoll/layer.h"
#include "plimsoll/ops/math.h"
#include "plimsoll/ops/reduce.h"
#include "plimsoll/ops/shape.h"
#include "train/loss_functions.h"
#include "train/metrics/mean.h"

namespace plimsoll {
namespace {

struct Intersection : MetricBase {
  int64_t classes = 2;
  Ints targets = {};  // empty: all classes
  IoUOptions o;

  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("num_classes", classes);
    f("ignore_class", o.ignore_class);
    f("sparse_y_pred", o.sparse_y_pred);
    f("axis", o.axis);
  }
  void check() const {
    require(classes > 0, class_name(), "expected num_classes > 0, got ", classes);
    for (const int64_t id : targets) {
      require(id >= 0 && id < classes, class_name(), "expected target_class_ids from 0 to ", classes - 1,
              ", got ", id);
    }
  }
  Tensor labels(const Tensor& x, bool sparse) const {
    const Tensor chosen = sparse ? x : argmax(x, static_cast<int>(o.axis));
    return reshape(cast(chosen, DType::i32), Shape{chosen.shape().elements()});
  }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    const Tensor y = labels(y_true, o.sparse_y_true);
    const Tensor p = labels(y_pred, o.sparse_y_pred);
    require(y.shape() == p.shape(), name, "expected as many labels as predictions, got ", y.shape(), " and ",
            p.shape());
    const auto inside = [&](const Tensor& x) {
      return bitwise_and(greater_equal(x, scalar_like(x, 0)),
                         less(x, scalar_like(x, static_cast<double>(classes))));
    };
    Tensor counts = bitwise_and(inside(y), inside(p));
    if (o.ignore_class)
      counts = bitwise_and(counts, not_equal(y, scalar_like(y, static_cast<double>(*o.ignore_class))));
    // Keras keeps whole numbers: weights lose their fractions.
    Tensor w = cast(counts, DType::f32);
    if (weight.defined()) {
      const Tensor whole = cast(cast(weight, DType::i32), DType::f32);
      w = w *
          broadcast_to(whole.rank() > 1 ? reshape(whole, Shape{whole.shape().elements()}) : whole, w.shape());
    }
    const Tensor zero = scalar_like(y, 0);
    const Tensor at[] = {expand_dims(where(counts, y, zero), -1), expand_dims(where(counts, p, zero), -1)};
    const Tensor matrix = s.state("total_confusion_matrix", {classes, classes});
    s.set("total_confusion_matrix", scatter_nd(matrix, concatenate(at, -1), w, "add"));
  }
  double result(std::span<const Tensor> states) override {
    const float* matrix = states[0].data<float>();
    double sum = 0, valid = 0;
    for (int64_t c = 0; c < classes; ++c) {
      if (!targets.empty() && std::find(targets.begin(), targets.end(), c) == targets.end()) continue;
      double unions = -static_cast<double>(matrix[c * classes + c]);
      for (int64_t k = 0; k < classes; ++k)
        unions += static_cast<double>(matrix[c * classes + k]) + static_cast<double>(matrix[k * classes + c]);
      if (unions <= 1e-9) continue;
      sum += static_cast<double>(matrix[c * classes + c]) / (unions + kEpsilon);
      valid += 1;
    }
    return sum / (valid + kEpsilon);
  }
};

struct MeanIntersection : Intersection {
  MeanIntersection() { name = unique_layer_name("MeanIoU"); }
  std::string_view class_name() const override { return "MeanIoU"; }
  void fields(Fields& f) override {
    Intersection::fields(f);
    f("sparse_y_true", o.sparse_y_true);
    if (f.reading()) check();
  }
};

struct ChosenIntersection final : Intersection {
  ChosenIntersection() { name = unique_layer_name("IoU"); }
  std::string_view class_name() const override { return "IoU"; }
  void fields(Fields& f) override {
    Intersection::fields(f);
    f("target_class_ids", targets);
    f("sparse_y_true", o.sparse_y_true);
    if (f.reading()) check();
  }
};

struct OneHotIntersection final : Intersection {
  OneHotIntersection() {
    name = unique_layer_name("OneHotIoU");
    o.sparse_y_true = o.sparse_y_pred = false;
  }
  std::string_view class_name() const override { return "OneHotIoU"; }
  void fields(Fields& f) override {
    Intersection::fields(f);
    f("target_class_ids", targets);
    if (f.reading()) check();
  }
};

struct OneHotMeanIntersection final : Intersection {
  OneHotMeanIntersection() {
    name = unique_layer_name("OneHotMeanIoU");
    o.sparse_y_true = o.sparse_y_pred = false;
  }
  std::string_view class_name() const override { return "OneHotMeanIoU"; }
  void fields(Fields& f) override {
    Intersection::fields(f);
    if (f.reading()) check();
  }
};

struct BinaryIntersection final : Intersection {
  BinaryIntersection() {
    name = unique_layer_name("BinaryIoU");
    targets = {0, 1};
  }
  double threshold = 0.5;
  std::string_view class_name() const override { return "BinaryIoU"; }
  void fields(Fields& f) override {
    MetricBase::fields(f);
    f("target_class_ids", targets);
    f("threshold", threshold);
    if (f.reading()) check();
  }
  void update(MetricScope& s, const Tensor& y_true, const Tensor& y_pred, const Tensor& weight) override {
    const Tensor score = cast(y_pred, DType::f32);
    const Tensor chosen = cast(greater_equal(score, scalar_like(score, threshold)), DType::i32);
    Intersection::update(s, y_true, chosen, weight);
  }
};

template <class T>
Metric made_of(int64_t num_classes, Ints targets, const IoUOptions& o) {
  auto made = std::make_shared<T>();
  made->o = o;
  made->classes = num_classes;
  made->targets = std::move(targets);
  if (!o.name.empty()) made->name = o.name;
  made->check();
  return made;
}
IoUOptions one_hot_options(const OneHotIoUOptions& o) {
  return {o.ignore_class, false, o.sparse_y_pred, o.axis, o.name};
}

}  // namespace

namespace metrics {
Metric IoU(int64_t num_classes, Ints target_class_ids, const IoUOptions& o) {
  return made_of<ChosenIntersection>(num_classes, std::move(target_class_ids), o);
}
Metric MeanIoU(int64_t num_classes, const IoUOptions& o) {
  return made_of<MeanIntersection>(num_classes, {}, o);
}
Metric OneHotIoU(int64_t num_classes, Ints target_class_ids, const OneHotIoUOptions& o) {
  return made_of<OneHotIntersection>(num_classes, std::move(target_class_ids), one_hot_options(o));
}
Metric OneHotMeanIoU(int64_t num_classes, const OneHotIoUOptions& o) {
  return made_of<OneHotMeanIntersection>(num_classes, {}, one_hot_options(o));
}
Metric BinaryIoU(const BinaryIoUOptions& o) {
  auto made = std::make_shared<BinaryIntersection>();
  made->targets = o.target_class_ids;
  made->threshold = o.threshold;
  if (!o.name.empty()) made->name = o.name;
  made->check();
  return made;
}
}  // namespace metrics

std::span<const ClassDef> classes_iou() {
  constexpr Family kMetric = Family::metric;
  static constexpr ClassDef rows[] = {
      {kMetric, "IoU", "io_u", make_default<ChosenIntersection>, {"num_classes", "target_class_ids"}},
      {kMetric, "MeanIoU", "mean_io_u", make_default<MeanIntersection>, {"num_classes"}},
      {kMetric, "BinaryIoU", "binary_io_u", make_default<BinaryIntersection>},
      {kMetric,
       "OneHotIoU",
       "one_hot_io_u",
       make_default<OneHotIntersection>,
       {"num_classes", "target_class_ids"}},
      {kMetric, "OneHotMeanIoU", "one_hot_mean_io_u", make_default<OneHotMeanIntersection>, {"num_classes"}},
  };
  return rows;
}

}  // namespace plimsoll
