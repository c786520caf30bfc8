#include "doctor/removed_names.h"

namespace plimsoll::doctor {
namespace {

struct Row {
  std::string_view dotted;  // this, and what is below it
  std::string_view requirement;
  uint64_t last_minor;  // the last Python 3 that such a version has wheels for
};

constexpr uint64_t kAny = 99;

constexpr Row kRows[] = {
    {"scipy.integrate.trapz", "scipy<1.14", 12},
    {"scipy.integrate.simps", "scipy<1.14", 12},
    {"scipy.integrate.cumtrapz", "scipy<1.14", 12},
    {"scipy.linalg.tril", "scipy<1.13", 12},
    {"scipy.linalg.triu", "scipy<1.13", 12},
    {"scipy.signal.hann", "scipy<1.13", 12},
    {"scipy.signal.hamming", "scipy<1.13", 12},
    {"scipy.signal.blackman", "scipy<1.13", 12},
    {"scipy.interp", "scipy<1.12", 12},
    {"scipy.misc.derivative", "scipy<1.12", 12},
    {"scipy.misc.imread", "scipy<1.2", 7},
    {"scipy.misc.imresize", "scipy<1.3", 7},
    {"scipy.misc.imsave", "scipy<1.2", 7},
    {"scipy.misc.logsumexp", "scipy<1.3", 7},
    {"sklearn.datasets.load_boston", "scikit-learn<1.2", 11},
    {"sklearn.externals.joblib", "scikit-learn<0.23", 8},
    {"sklearn.externals.six", "scikit-learn<0.23", 8},
    {"sklearn.neighbors.base", "scikit-learn<0.24", 8},
    {"sklearn.linear_model.base", "scikit-learn<0.24", 8},
    {"sklearn.ensemble.forest", "scikit-learn<0.24", 8},
    {"sklearn.tree.tree", "scikit-learn<0.24", 8},
    {"sklearn.metrics.scorer", "scikit-learn<0.24", 8},
    {"sklearn.utils.testing", "scikit-learn<0.24", 8},
    {"sklearn.cross_validation", "scikit-learn<0.20", 7},
    {"sklearn.grid_search", "scikit-learn<0.20", 7},
    {"pandas.Int64Index", "pandas<2", 11},
    {"pandas.Float64Index", "pandas<2", 11},
    {"pandas.UInt64Index", "pandas<2", 11},
    {"pandas.core.indexes.numeric", "pandas<2", 11},
    {"pandas.core.index", "pandas<2", 11},
    {"pandas.util.testing", "pandas<2", 11},
    {"pandas.Panel", "pandas<0.25", 7},
    {"keras.engine.topology", "keras<2.4", 7},
    {"keras.backend.tensorflow_backend", "keras<2.4", 7},
    {"keras.engine", "keras<2.13", 11},
    {"keras.utils.layer_utils", "keras<2.13", 11},
    {"keras.utils.generic_utils", "keras<2.13", 11},
    {"tensorflow.contrib", "tensorflow<2", 7},
    {"tensorflow.placeholder", "tensorflow<2", 7},
    {"tensorflow.Session", "tensorflow<2", 7},
    {"tensorflow.InteractiveSession", "tensorflow<2", 7},
    {"tensorflow.ConfigProto", "tensorflow<2", 7},
    {"tensorflow.global_variables_initializer", "tensorflow<2", 7},
    {"tensorflow.get_default_graph", "tensorflow<2", 7},
    {"tensorflow.reset_default_graph", "tensorflow<2", 7},
    {"tensorflow.get_variable", "tensorflow<2", 7},
    {"tensorflow.variable_scope", "tensorflow<2", 7},
    {"tensorflow.set_random_seed", "tensorflow<2", 7},
    {"tensorflow.app", "tensorflow<2", 7},
    {"tensorflow.flags", "tensorflow<2", 7},
    {"tensorflow.gfile", "tensorflow<2", 7},
    {"pydantic.BaseSettings", "pydantic<2", kAny},
    {"networkx.from_numpy_matrix", "networkx<3", 12},
    {"networkx.to_numpy_matrix", "networkx<3", 12},
    {"PIL.PILLOW_VERSION", "pillow<7", 8},
    {"PIL.Image.ANTIALIAS", "pillow<10", 11},
    {"jinja2.Markup", "jinja2<3.1", kAny},
    {"jinja2.contextfilter", "jinja2<3.1", kAny},
    {"markupsafe.soft_unicode", "markupsafe<2.1", 10},
    {"werkzeug.urls.url_quote", "werkzeug<3", kAny},
    {"notebook.services", "notebook<7", kAny},
};

}  // namespace

RemovedName removed_name(std::string_view dotted, uint64_t minor) {
  for (const Row& row : kRows) {
    const bool below = dotted.starts_with(row.dotted) &&
                       (dotted.size() == row.dotted.size() || dotted[row.dotted.size()] == '.');
    if (below) return {std::string(row.requirement), minor <= row.last_minor};
  }
  return {};
}

}  // namespace plimsoll::doctor
