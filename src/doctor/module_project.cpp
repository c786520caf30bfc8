#include "doctor/module_project.h"

#include <algorithm>

#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

namespace fs = std::filesystem;

namespace {

// Projects that programs ask for whose name is that of their module.
constexpr std::string_view kProjects =
    "accelerate aiohttp albumentations altair anthropic ase astropy autogluon bayesian-optimization "
    "beautifulsoup4 bokeh boto3 botorch bqplot captum cartopy catboost celery chromadb clearml click "
    "cloudpickle coremltools cupy cvxpy cython darts dash dask datasets deap deepspeed diffusers dill "
    "django doctr duckdb earthengine-api einops emcee ensemble-boxes evaluate faker fairlearn fastai "
    "fastapi fasttext featuretools fiona flair flask flax folium gast gensim geopandas geopy ggplot "
    "gluonts gpflow gpytorch gradio graphviz gspread gymnasium gym h2o h5py haystack-ai hmmlearn "
    "holoviews httpx huggingface-hub hydra-core hyperopt imageio imgaug imutils ipdb ipykernel ipympl "
    "ipywidgets jax jaxlib jieba joblib jupyter jupyterlab kaggle keras keras-cv keras-hub keras-nlp "
    "keras-tuner kornia langchain langdetect lifelines lightgbm lightning lime llama-index librosa "
    "llvmlite loguru lxml markdown matplotlib mediapipe missingno mlflow mlxtend monai moviepy mpi4py "
    "mplfinance natsort nbformat neptune networkx nibabel nltk notebook numba numexpr numpy numpyro "
    "onnx onnxruntime open3d openai opencv-python openpyxl optax optuna orbax-checkpoint osmnx pandas "
    "pandas-datareader pandas-profiling paramiko patsy peft pillow pingouin pint plotly plotnine "
    "pmdarima polars polyfuzz prettytable prophet psutil psycopg2 py7zr pyarrow pycaret pycocotools "
    "pydantic pydicom pydot pyfiglet pygame pyinstaller pymc pymongo pymysql pynvml pyod pyperclip "
    "pyro-ppl pyspark pytesseract pytest python-dateutil python-louvain pytorch-lightning pytz pyvista "
    "pywavelets qiskit rasterio ray redis regex reportlab requests rich rouge rouge-score sacrebleu "
    "safetensors schedule scikeras scipy scrapy seaborn selenium sentencepiece seqeval shap shapely "
    "simpleitk sktime spacy sqlalchemy stable-baselines3 statsmodels streamlit sweetviz sympy tables "
    "tabulate tensorboard tensorboardx tensorflow tensorflow-addons tensorflow-probability tensorflow- "
    "text textblob tf2onnx tf-slim thop tifffile tiktoken timm tokenizers torch torch-geometric "
    "torchaudio torchinfo torchmetrics torchsummary torchtext torchvision tqdm transformers trimesh trl "
    "tslearn tweepy ultralytics unidecode uvicorn vadersentiment visualkeras wandb wget wordcloud "
    "xarray xformers xgboost xlrd xlsxwriter yellowbrick yfinance zarr";

}  // namespace

std::string project_with(std::string_view module) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"pkg_resources", "setuptools<81"},
      {"distutils", "setuptools<81"},
      {"setuptools", "setuptools"},
      {"imp", "zombie-imp"},
      {"cgi", "legacy-cgi"},
      {"cgitb", "legacy-cgi"},
      {"yaml", "PyYAML"},
      {"absl", "absl-py"},
      {"PIL", "pillow"},
      {"cv2", "opencv-python-headless"},
      {"sklearn", "scikit-learn"},
      {"skimage", "scikit-image"},
      {"google", "protobuf"},
      {"dateutil", "python-dateutil"},
      {"attr", "attrs"},
      {"bs4", "beautifulsoup4"},
      {"zmq", "pyzmq"},
      {"IPython", "ipython"},
      {"audioop", "audioop-lts"},
      {"pyaudioop", "audioop-lts"},
      {"fitz", "PyMuPDF"},
      {"Crypto", "pycryptodome"},
      {"jwt", "PyJWT"},
      {"dotenv", "python-dotenv"},
      {"docx", "python-docx"},
      {"serial", "pyserial"},
      {"Levenshtein", "python-Levenshtein"},
      {"lightning_fabric", "lightning"},
      {"umap", "umap-learn"},
      {"imblearn", "imbalanced-learn"},
      {"faiss", "faiss-cpu"},
      {"sentence_transformers", "sentence-transformers"},
      {"tf_keras", "tf-keras"},
      {"OpenSSL", "pyOpenSSL"},
      {"MySQLdb", "mysqlclient"},
      {"gi", "PyGObject"},
      {"git", "GitPython"},
      {"magic", "python-magic"},
      {"usb", "pyusb"},
      {"win32api", "pywin32"},
      {"Bio", "biopython"},
      {"skopt", "scikit-optimize"},
      {"mpl_toolkits", "matplotlib"},
      {"tensorflow_datasets", "tensorflow-datasets"},
      {"tensorflow_hub", "tensorflow-hub"},
      {"pl_bolts", "lightning-bolts"}};
  for (const auto& [name, project] : known) {
    if (name == module) return std::string(project);
  }
  for (const std::string_view dropped :
       {"aifc", "asynchat", "asyncore", "chunk", "crypt", "imghdr", "mailcap", "nntplib", "pipes", "smtpd",
        "sndhdr", "sunau", "telnetlib", "uu", "xdrlib"}) {
    if (dropped == module) return concat("standard-", module);
  }
  return std::string(module);
}

bool is_known_project(const Environment& e, std::string_view project) {
  const std::string normal = normal_name(project.substr(0, project.find_first_of("<>=![ ")));
  // A name that project_with() has chosen is known.
  if (project_with(project) != project || contains(project, "<") || normal.starts_with("standard-")) return true;
  const auto all = split(kProjects, " ");
  if (std::find(all.begin(), all.end(), normal) != all.end()) return true;
  return std::any_of(e.distributions.begin(), e.distributions.end(), [&](const Distribution& d) {
    return d.normal == normal ||
           std::any_of(d.requires_dist.begin(), d.requires_dist.end(),
                       [&](const Requirement& r) { return normal_name(r.name) == normal; });
  });
}

const Distribution* find_project(const Environment& environment, std::string_view name) {
  if (const Distribution* found = environment.find(name)) return found;
  if (name != "tensorflow") return nullptr;
  for (const char* other : {"tensorflow-cpu", "tensorflow-macos", "tensorflow-gpu", "tensorflow-intel"}) {
    if (const Distribution* found = environment.find(other)) return found;
  }
  return nullptr;
}

const Distribution* owner_of(const Environment& e, const fs::path& file) {
  for (const Distribution& d : e.distributions) {
    const std::string inner = file.lexically_relative(d.site).string();
    if (inner.empty() || inner.starts_with("..")) continue;
    if (std::any_of(d.record.begin(), d.record.end(), [&](const RecordRow& r) { return r.path == inner; }))
      return &d;
  }
  return nullptr;
}

}  // namespace plimsoll::doctor
