#include "element_source/c_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "plimsoll/error.h"

namespace plimsoll::testing {
namespace {

std::string declared_arguments(const ElementSource& source) {
  std::string text;
  for (size_t i = 0; i < source.arguments.size(); ++i) {
    const ElementSource::Argument& a = source.arguments[i];
    text +=
        concat(a.written ? "" : "const ", source_type(a.dtype).name, "* const arg", i, " = args[", i, "];\n");
  }
  return text;
}

std::string loops(const ElementSource& source) {
  std::string text;
  for (size_t i = 0; i < source.sizes.size(); ++i)
    text += concat("for (int64_t i", i, " = 0; i", i, " < sizes[", i, "]; ++i", i, ")\n");
  return text;
}

// One accumulator per element of an output, in f64 where floats are added up.
class FoldLoop {
 public:
  FoldLoop(const ElementSource& source, size_t number)
      : source_(source), fold_(source.folds[number]), name_(concat("fold", number)) {
    const bool adds = fold_.combine == "a + b" || fold_.combine == "a * b";
    type_ = adds ? DType::f64 : computed_type(fold_.dtype);
  }

  std::string before() const {
    return concat("static ", source_type(type_).name, " ", name_, "[", std::max<int64_t>(1, fold_.elements),
                  "];\nfor (int64_t k = 0; k < ", fold_.elements, "; ++k) ", name_, "[k] = ", fold_.start,
                  ";\n");
  }
  std::string step() const {
    std::string at = "0";
    for (size_t i = 0; i < source_.sizes.size(); ++i) at += concat(" + i", i, " * ", fold_.strides[i]);
    const std::string operands[] = {concat(name_, "[", at, "]"), fold_.value};
    return concat(operands[0], " = ", element_expression(fold_.combine, operands, type_), ";\n");
  }
  std::string after() const {
    return concat("for (int64_t k = 0; k < ", fold_.elements, "; ++k) arg", fold_.argument, "[k] = ",
                  store_element(concat("(", source_type(computed_type(fold_.dtype)).name, ")", name_, "[k]"),
                                fold_.dtype),
                  ";\n");
  }

 private:
  const ElementSource& source_;
  const ElementSource::Fold& fold_;
  std::string name_;
  DType type_;
};

std::string function_text(const ElementSource& source) {
  std::string before, steps, after;
  for (size_t f = 0; f < source.folds.size(); ++f) {
    const FoldLoop loop(source, f);
    before += loop.before();
    steps += loop.step();
    after += loop.after();
  }
  return concat("(void* const* args, const int64_t* sizes) {\n", declared_arguments(source), before,
                "int64_t at = 0;\n", loops(source), "{\n", source.text, steps, "++at;\n}\n", after, "}\n");
}

std::string read_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// A folder that is gone at the end.
class Folder {
 public:
  Folder() : path_((std::filesystem::temp_directory_path() / "plimsoll-source-XXXXXX").string()) {
    if (!mkdtemp(path_.data())) throw std::runtime_error("no folder for the library: " + path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(std::string_view name) const { return concat(path_, "/", name); }

 private:
  std::string path_;
};

}  // namespace

CLibrary::~CLibrary() {
  if (library_) dlclose(library_);
}

size_t CLibrary::add(const TileProgram& program, int arguments) {
  const ElementSource source = element_source(program, arguments);
  Added added{
      functions_.try_emplace(function_text(source), functions_.size()).first->second, source.sizes, {}};
  for (const ElementSource::Argument& a : source.arguments) {
    if (a.constant) added.constants.push_back(a.constant);
  }
  programs_.push_back(std::move(added));
  return programs_.size() - 1;
}

void CLibrary::compile() {
  const Folder folder;
  std::ofstream file(folder / "f.c");
  file << element_prelude(SourceTarget::c);
  for (const auto& [text, number] : functions_) file << "void f" << number << text;
  file.close();
  const std::string command =
      concat(PLIMSOLL_C_COMPILER " -std=c11 -O0 -ffp-contract=off -fno-math-errno -w -shared -fPIC ",
             folder / "f.c", " -o ", folder / "f.so", " -lm 2> ", folder / "log");
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(concat(command, "\n", read_text(folder / "log")));
  library_ = dlopen((folder / "f.so").c_str(), RTLD_NOW);
  if (!library_) throw std::runtime_error(dlerror());
}

void CLibrary::run(size_t program, std::vector<void*> args) const {
  const Added& added = programs_[program];
  for (const auto& c : added.constants) args.push_back(const_cast<void*>(c.get()));
  using Function = void (*)(void* const* args, const int64_t* sizes);
  reinterpret_cast<Function>(dlsym(library_, concat("f", added.function).c_str()))(args.data(),
                                                                                   added.sizes.data());
}

}  // namespace plimsoll::testing
