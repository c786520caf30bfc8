// Two copies of the C++ protobuf runtime that see each other: both register the same descriptors.
#include <set>

#include "doctor/exam.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {

void find_protobuf_runtimes(const Exam& exam, Findings& findings) {
  // Every copy of the runtime has one pool of descriptors; whoever exports its accessor shares it.
  constexpr const char* kPool = "_ZN6google8protobuf14DescriptorPool14generated_poolEv";
  std::set<const Library*> copies;
  for (const auto& library : exam.libraries.all()) {
    if (library->elf && library->elf->defines(kPool)) copies.insert(library.get());
  }
  std::set<std::pair<const Library*, const Library*>> reported;
  for (const auto& library : exam.libraries.all()) {
    if (!library->module) continue;
    const Library* first = nullptr;
    for (const Library* l : exam.libraries.closure(*library)) {
      if (!copies.contains(l)) continue;
      if (!first) first = l;
      // Several libraries of one project were linked and tested together.
      if (l == first || (l->owner && l->owner == first->owner) || !reported.insert({first, l}).second)
        continue;
      Finding f;
      f.severity = Severity::warning;
      f.sureness = Sureness::likely;
      f.what = concat(library->shown, " loads two copies of the protobuf runtime");
      f.evidence = {first->shown, l->shown};
      f.leads_to = "\"File already exists in database\" and abort, or a crash in a destructor at exit";
      f.fix = "Use builds of both packages that link the same libprotobuf (in conda: both from one channel).";
      findings.push_back(f);
    }
  }
}

}  // namespace plimsoll::doctor
