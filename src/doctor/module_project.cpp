#include "doctor/module_project.h"

#include <algorithm>

#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

namespace fs = std::filesystem;

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
