// A tokenizer.json of Hugging Face that a newer tokenizers wrote: since version 0.20 pairs to merge are
// lists, which older ones do not read.
#include "doctor/exam.h"
#include "doctor/formats/mapped_file.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

void find_tokenizer_file(const Exam& exam, Findings& findings) {
  const std::string name = exam.options.model.filename().string();
  const Distribution* here = exam.environment.find("tokenizers");
  if (name != "tokenizer.json" || !here || !here->version || *here->version >= *Version::parse("0.20"))
    return;
  const std::string text = read_text(exam.options.model, 64u << 20).value_or("");
  // "merges": [["h", "e"], ...]; formerly ["h e", ...].
  size_t at = text.find("\"merges\":");
  if (at == std::string::npos) return;
  at = text.find_first_not_of(" \t\r\n", at + 9);
  if (at == std::string::npos || text[at] != '[') return;
  at = text.find_first_not_of(" \t\r\n", at + 1);
  if (at == std::string::npos || text[at] != '[') return;
  Finding f;
  f.severity = Severity::error;
  f.what = concat(name, " was written by tokenizers 0.20 or newer; ", here->shown(), " does not read it");
  f.evidence = {exam.options.model.string()};
  f.leads_to = "Exception: data did not match any variant of untagged enum ModelWrapper";
  f.installs = {{"tokenizers>=0.20", "", false}};
  findings.push_back(f);
}

}  // namespace plimsoll::doctor
