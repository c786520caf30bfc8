// jax, jaxlib and the plug-ins for graphics cards compare their versions when they are imported, by rules
// that are not in their metadata (jax/_src/lib/__init__.py, jaxlib/plugin_support.py).
#include "doctor/exam.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// The numbers of a version, without what follows them.
std::string release_of(const Version& v) { return concat(v.major(), ".", v.minor(), ".", v.part(2)); }

bool is_newer(const Version& a, const Version& b) {
  return *Version::parse(release_of(a)) > *Version::parse(release_of(b));
}

void library_too_new(const Distribution& jax, const Distribution& jaxlib, Findings& findings) {
  Finding f;
  f.severity = Severity::error;
  f.what = concat(jaxlib.shown(), " is newer than ", jax.shown(), ", which refuses it");
  f.evidence = {jaxlib.folder.string(), jax.folder.string()};
  f.leads_to = concat("RuntimeError: jaxlib version ", jaxlib.version_text,
                      " is newer than and incompatible with jax version ", jax.version_text);
  f.installs = {{concat("jaxlib<=", release_of(*jax.version)), "", false}};
  findings.push_back(f);
}

void plug_in_of_other_version(const Distribution& plug_in, const Distribution& jaxlib, Findings& findings) {
  Finding f;
  f.severity = Severity::warning;
  f.what = concat(plug_in.shown(), " does not fit ", jaxlib.shown(),
                  ": JAX uses only a plug-in of the same version");
  f.evidence = {plug_in.folder.string()};
  f.leads_to =
      "RuntimeWarning: the plug-in is not compatible with the installed jaxlib: the card is not used";
  f.installs = {{concat(plug_in.name, "==", release_of(*jaxlib.version)), "", false}};
  findings.push_back(f);
}

}  // namespace

void find_jax_versions(const Exam& exam, Findings& findings) {
  const Distribution* jax = exam.environment.find("jax");
  const Distribution* jaxlib = exam.environment.find("jaxlib");
  if (!jaxlib || !jaxlib->version) return;
  if (jax && jax->version && is_newer(*jaxlib->version, *jax->version))
    library_too_new(*jax, *jaxlib, findings);
  for (const Distribution& d : exam.environment.distributions) {
    if (!d.normal.starts_with("jax-cuda") || !d.version || exam.environment.find(d.normal) != &d) continue;
    if (release_of(*d.version) != release_of(*jaxlib->version))
      plug_in_of_other_version(d, *jaxlib, findings);
  }
}

}  // namespace plimsoll::doctor
