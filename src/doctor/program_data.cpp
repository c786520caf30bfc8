#include "doctor/program_data.h"

#include <algorithm>

#include "doctor/commands.h"
#include "doctor/files.h"
#include "doctor/program_reader.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

namespace fs = std::filesystem;

// Data that a call loads by the name that it is given, or always.
struct Corpus {
  std::string_view call, folder, name;
};
constexpr Corpus kCorpora[] = {
    {"word_tokenize", "tokenizers", "punkt"},
    {"sent_tokenize", "tokenizers", "punkt"},
    {"stopwords.words", "corpora", "stopwords"},
    {"WordNetLemmatizer", "corpora", "wordnet"},
    {"wordnet.synsets", "corpora", "wordnet"},
    {"pos_tag", "taggers", "averaged_perceptron_tagger"},
    {"ne_chunk", "chunkers", "maxent_ne_chunker"},
    {"SentimentIntensityAnalyzer", "sentiment", "vader_lexicon"},
    {"movie_reviews.words", "corpora", "movie_reviews"},
    {"names.words", "corpora", "names"},
    {"gutenberg.words", "corpora", "gutenberg"},
};

class Reader : public ProgramReader {
 public:
  using ProgramReader::ProgramReader;

  void run() {
    if (imported_.contains("spacy")) spacy_models();
    if (imported_.contains("nltk")) corpora();
  }

 private:
  // The text between quotes in the first argument of a call, as it stands in the file.
  std::string text_given(size_t line, std::string_view call) const {
    const std::string_view whole = lines_[line].whole;
    const size_t at = whole.find(call);
    const size_t open = at == std::string_view::npos ? at : whole.find('(', at);
    if (open == std::string_view::npos) return "";
    const std::string_view rest = trim(whole.substr(open + 1));
    if (rest.empty() || (rest[0] != '\'' && rest[0] != '"')) return "";
    return std::string(rest.substr(1, rest.find(rest[0], 1) - 1));
  }

  void spacy_models() {
    for_each_call("spacy.load", [&](size_t line, size_t, std::string_view) {
      const std::string name = text_given(line, "spacy.load");
      if (name.empty() || contains(name, "/") || exam_.environment.path.find(name)) return;
      if (is_there(exam_.options.model.parent_path() / name) || is_downloaded(name)) return;
      const bool old = name.size() == 2;  // a shortcut of spaCy 2
      const std::string now = old ? concat(name, name == "en" ? "_core_web_sm" : "_core_news_sm") : name;
      add(line, concat("loads the model ", name, " of spaCy, which is not installed"),
          concat("OSError: [E050] Can't find model '", name, "'"),
          concat(shell_word(exam_.environment.python), " -m spacy download ", now,
                 old ? concat("   # and write spacy.load('", now, "')") : ""));
    });
  }
  // Programs that fetch what they need themselves.
  bool is_downloaded(std::string_view name) const {
    for (size_t at = source_.find(name); at != std::string_view::npos; at = source_.find(name, at + 1)) {
      if (contains(source_.substr(at < 40 ? 0 : at - 40, at < 40 ? at : 40), "download")) return true;
    }
    return false;
  }

  std::vector<fs::path> folders_of_nltk() const {
    std::vector<fs::path> all;
    for (const std::string_view f : split(exam_.system.variable("NLTK_DATA"), ":")) {
      if (!f.empty()) all.emplace_back(f);
    }
    const fs::path home(exam_.system.variable("HOME")), prefix = exam_.environment.prefix;
    for (const fs::path& f :
         {home / "nltk_data", prefix / "nltk_data", prefix / "share/nltk_data", prefix / "lib/nltk_data",
          fs::path("/usr/share/nltk_data"), fs::path("/usr/local/share/nltk_data"),
          fs::path("/usr/lib/nltk_data"), fs::path("/usr/local/lib/nltk_data")})
      all.push_back(f);
    return all;
  }

  void corpora() {
    for (const Corpus& corpus : kCorpora) {
      const std::string_view call = corpus.call;
      const std::string_view first = call.substr(0, call.find('.'));
      if (first != call && !bound_.contains(first) && !contains(source_, concat("corpus.", call))) continue;
      for_each_call(call, [&](size_t line, size_t, std::string_view arguments) {
        if (!contains(arguments, "preserve_line")) corpus_of(corpus, line);
      });
    }
  }
  void corpus_of(const Corpus& corpus, size_t line) {
    std::string name(corpus.name);
    if (is_at_least("nltk", "3.8.2")) {
      if (name == "punkt" || name == "maxent_ne_chunker") name += "_tab";
      if (name == "averaged_perceptron_tagger") name += "_eng";
    }
    for (const fs::path& folder : folders_of_nltk()) {
      const fs::path data = folder / corpus.folder / name;
      if (is_there(data) || is_there(data.string() + ".zip")) return;
    }
    if (is_downloaded(name) || contains(source_, "nltk.data.path")) return;
    add(line, concat("uses ", corpus.call, "(), which loads NLTK's data \"", name, "\": that is not here"),
        concat("LookupError: Resource ", name, " not found"),
        concat(shell_word(exam_.environment.python), " -m nltk.downloader ", name));
  }
};

}  // namespace

void data_of_program(const Exam& exam, std::string_view source, Findings& findings) {
  Reader(exam, source, findings).run();
}

}  // namespace plimsoll::doctor
