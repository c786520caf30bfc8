#include "doctor/treatment.h"

#include <algorithm>
#include <map>
#include <set>

#include "doctor/commands.h"
#include "doctor/python/text.h"
#include "plimsoll/error.h"

namespace plimsoll::doctor {
namespace {

// Who demands which versions of one project. Nobody (an empty name) cannot be moved: a file wants it so.
struct Demand {
  std::string by;
  Specifiers specifiers;
};

bool applies(const Requirement& r, const Environment& e) {
  return r.marker.empty() || marker_holds(r.marker, e.markers).value_or(false);
}

// Versions worth trying: each that a demand names, and its neighbours on either side.
std::vector<Version> candidates(const std::vector<Demand>& demands, const Distribution* installed) {
  std::vector<Version> all;
  if (installed && installed->version) all.push_back(*installed->version);
  for (const Demand& d : demands) {
    for (const std::string& named : d.specifiers.versions()) {
      std::vector<std::string> texts = {named, named + ".0.1"};
      if (const auto v = Version::parse(named)) {
        texts.push_back(v->minor() > 0   ? concat(v->major(), ".", v->minor() - 1, ".99999")
                        : v->major() > 0 ? concat(v->major() - 1, ".99999")
                                         : "0");
        if (v->part(2) > 0)
          texts.push_back(concat(v->major(), ".", v->minor(), ".", v->part(2) - 1, ".99999"));
      }
      for (const std::string& text : texts) {
        if (auto v = Version::parse(text)) all.push_back(*std::move(v));
      }
    }
  }
  return all;
}

// The version that suits most; of equals the newest. What nobody can move must be met.
std::optional<Version> best_version(const std::vector<Demand>& demands, const Distribution* installed) {
  std::optional<Version> best;
  size_t most = 0;
  for (const Version& v : candidates(demands, installed)) {
    std::map<std::string, bool> content;  // by who demands: one vote each
    size_t met = 1;
    for (const Demand& d : demands) {
      const bool fits = d.specifiers.contains(v);
      if (d.by.empty())
        met += fits ? 1000 : 0;
      else
        content.try_emplace(d.by, true).first->second &= fits;
    }
    for (const auto& [by, all_met] : content) met += all_met ? 1 : 0;
    if (met > most || (met == most && best && *best < v)) {
      best = v;
      most = met;
    }
  }
  return best;
}

bool asks_for_newer(std::string_view clause, const Distribution* installed) {
  return installed && clause == concat(">", installed->version_text);
}

// All demands in one specifier: the highest lower bound, the lowest upper one, and what else is said. For a
// version newer than the installed one that one and later are asked for: whether there is a newer one is not
// known, and an upgrade takes the newest.
std::string combined(const std::vector<Demand>& demands, const Distribution* installed) {
  std::optional<Version> low, high;
  std::string low_text, high_text;
  std::vector<std::string> parts;
  for (const Demand& d : demands) {
    for (const std::string_view clause : split(d.specifiers.text(), ",")) {
      const bool newer = asks_for_newer(trim(clause), installed);
      const std::string text = newer ? concat(">=", installed->version_text) : std::string(trim(clause));
      const bool strict = text.starts_with("<") && !text.starts_with("<=");
      const bool lower = text.starts_with(">=");
      const auto version =
          strict || lower ? Version::parse(trim(std::string_view(text).substr(lower ? 2 : 1))) : std::nullopt;
      if (version && lower) {
        if (!low || *low < *version) low = version, low_text = text;
      } else if (version && strict) {
        if (!high || *version < *high) high = version, high_text = text;
      } else if (!text.empty() && std::find(parts.begin(), parts.end(), text) == parts.end()) {
        parts.push_back(text);
      }
    }
  }
  if (!low_text.empty()) parts.push_back(low_text);
  if (!high_text.empty()) parts.push_back(high_text);
  std::string out = join(parts, ",");
  out.erase(std::remove(out.begin(), out.end(), ' '), out.end());
  return out;
}

// The command for one group of findings.
class Group {
 public:
  explicit Group(const Exam& exam) : exam_(exam) {}

  void add(const Finding& f) {
    if (!f.fix.empty() && std::find(before_.begin(), before_.end(), f.fix) == before_.end())
      before_.push_back(f.fix);
    for (const std::string& name : f.removes) {
      if (removed_.insert(normal_name(name)).second) removes_.push_back(name);
    }
    for (const Finding::Install& install : f.installs) {
      const auto r = Requirement::parse(install.requirement);
      if (!r) continue;
      const std::string name = normal_name(r->name);
      Project& p = project(name, r->name);
      if (install.again)
        p.again = true;
      else
        p.wanted = true;
      if (!r->extras.empty()) p.shown = concat(r->name, "[", join(r->extras, ","), "]");
      if (!r->specifiers.empty()) p.demands.push_back({install.by, r->specifiers});
    }
  }

  std::string command() {
    forget_old_demands();
    // The list grows while it is walked: whoever stands in the way is moved too.
    for (size_t i = 0; i < order_.size(); ++i) settle(order_[i]);
    InstallCommand change, alone, again;
    for (const std::string& name : order_) {
      if (removed_.contains(name)) continue;
      const Project& p = projects_.at(name);
      const Distribution* d = take_off_path(name);
      if (d && d != exam_.environment.find(name) && d->version && p.specifiers_hold(*d->version)) continue;
      const bool stays = d && d->version && p.specifiers_hold(*d->version) && !p.moved;
      if (p.again && stays) {
        again.requirements.push_back(d->version ? concat(d->name, "==", d->version_text) : p.shown);
      } else if (p.again && !p.wanted && p.demands.empty() && !p.moved) {
        again.requirements.push_back(p.shown);
      } else {
        InstallCommand& to = is_served_by_another_build(name) ? alone : change;
        to.requirements.push_back(p.shown + combined(p.demands, d));
        to.upgrade |= p.wants_newer(d) || p.moved || (stays && p.wanted && !p.goes_back);
      }
    }
    again.again = true;
    alone.alone = true;
    std::vector<std::string> steps = before_;
    if (!removes_.empty()) steps.push_back(uninstall_command(exam_, removes_));
    if (!change.requirements.empty()) steps.push_back(change.text(exam_));
    if (!alone.requirements.empty()) steps.push_back(alone.text(exam_));
    if (!again.requirements.empty()) steps.push_back(again.text(exam_));
    return join(steps, " && ");
  }

 private:
  struct Project {
    std::string shown;
    bool wanted = false, again = false;
    bool moved = false;      // to a newer version, since its demands cannot be met
    bool goes_back = false;  // to whatever version fits what others are given
    std::vector<Demand> demands;
    bool wants_newer(const Distribution* installed) const {
      return std::any_of(demands.begin(), demands.end(),
                         [&](const Demand& d) { return asks_for_newer(d.specifiers.text(), installed); });
    }
    bool specifiers_hold(const Version& v) const {
      return std::all_of(demands.begin(), demands.end(),
                         [&](const Demand& d) { return d.specifiers.contains(v); });
    }
  };

  // tf-keras asks for `tensorflow`, and would bring it over the files of tensorflow-cpu.
  bool is_served_by_another_build(const std::string& name) const {
    const Environment& e = exam_.environment;
    return name == "tf-keras" && !e.find("tensorflow") &&
           (e.find("tensorflow-cpu") || e.find("tensorflow-macos") || e.find("tensorflow-rocm"));
  }

  Project& project(const std::string& name, const std::string& shown) {
    const auto [it, fresh] = projects_.try_emplace(name);
    if (fresh) {
      order_.push_back(name);
      const Distribution* d = exam_.environment.find(name);
      it->second.shown = d ? d->name : shown;
    }
    return it->second;
  }

  // What is found through PYTHONPATH and the like stays first, whatever is installed: it is taken off the
  // path. Returns the copy that is found then, if there is one.
  const Distribution* take_off_path(const std::string& name) {
    const Distribution* d = exam_.environment.find(name);
    if (!d || d->editable) return d;
    const std::string command = take_off_path_command(exam_, d->site);
    if (command.empty()) return d;
    if (std::find(before_.begin(), before_.end(), command) == before_.end()) before_.push_back(command);
    for (const Distribution& other : exam_.environment.distributions) {
      if (other.normal == name && other.has_metadata && how_on_path(exam_, other.site).empty()) return &other;
    }
    return nullptr;
  }

  // A project that must get another version has other demands then: what its present one wants is no matter.
  void forget_old_demands() {
    for (const auto& [name, p] : projects_) {
      const Distribution* d = exam_.environment.find(name);
      if (d && d->version && !p.again &&
          std::any_of(p.demands.begin(), p.demands.end(), [&](const Demand& demand) {
            return demand.by.empty() && !demand.specifiers.contains(*d->version);
          }))
        changing_.insert(name);
    }
    const auto is_old = [&](const Demand& d) { return changing_.contains(d.by); };
    std::erase_if(order_, [&](const std::string& name) {
      Project& p = projects_.at(name);
      const size_t removed = std::erase_if(p.demands, is_old);
      const bool idle = removed > 0 && p.demands.empty() && !p.again && exam_.environment.find(name);
      if (idle) projects_.erase(name);
      return idle;
    });
  }

  void settle(const std::string& name) {
    Project& p = projects_.at(name);
    const Distribution* installed = exam_.environment.find(name);
    if (p.again && !p.wanted && p.demands.empty() && !p.moved) return;  // its version stays
    for (const Distribution& d : exam_.environment.distributions) {
      const auto moved = projects_.find(d.normal);
      if (d.normal == name || removed_.contains(d.normal) || changing_.contains(d.normal) ||
          (moved != projects_.end() && moved->second.moved))
        continue;
      for (const Requirement& r : d.requires_dist) {
        if (normal_name(r.name) != name || r.specifiers.empty() || !applies(r, exam_.environment)) continue;
        p.demands.push_back({d.normal, r.specifiers});
      }
    }
    if (p.moved && installed && installed->version) {
      if (auto newer = Specifiers::parse(">" + installed->version_text)) p.demands.push_back({"", *newer});
    }
    const auto best = best_version(p.demands, installed);
    if (!best) return;
    const auto unmet = [&](const Demand& d) { return !d.specifiers.contains(*best); };
    std::vector<std::string> movers;
    for (const Demand& d : p.demands) {
      if (unmet(d) && !d.by.empty()) movers.push_back(d.by);
    }
    std::erase_if(p.demands, [&](const Demand& d) {
      return unmet(d) || std::find(movers.begin(), movers.end(), d.by) != movers.end();
    });
    // Who wants a newer one than is to be had goes back with it: the installer finds how far.
    const bool back = installed && installed->version && *best < *installed->version;
    for (const std::string& mover : movers) {
      Project& m = project(mover, mover);
      (back ? m.wanted : m.moved) = true;
      m.goes_back |= back;
    }
  }

  const Exam& exam_;
  std::vector<std::string> before_, order_, removes_;
  std::set<std::string> removed_, changing_;
  std::map<std::string, Project> projects_;
};

// Findings that name the same projects, or that the same project causes, belong together.
std::vector<std::vector<size_t>> grouped(const Findings& findings) {
  std::map<std::string, size_t> owner;  // project -> group
  std::vector<std::vector<size_t>> groups;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].installs.empty() && findings[i].removes.empty()) continue;
    std::set<std::string> names;
    for (const Finding::Install& install : findings[i].installs) {
      if (const auto r = Requirement::parse(install.requirement)) names.insert(normal_name(r->name));
      if (!install.by.empty()) names.insert(install.by);
    }
    for (const std::string& name : findings[i].removes) names.insert(normal_name(name));
    const bool note = findings[i].severity == Severity::note;
    std::set<size_t> joined;
    for (const std::string& name : names) {
      if (const auto found = owner.find(name); found != owner.end() && !note) joined.insert(found->second);
    }
    groups.push_back({i});
    for (const size_t g : joined) {
      groups.back().insert(groups.back().end(), groups[g].begin(), groups[g].end());
      groups[g].clear();
    }
    for (auto& [name, g] : owner) {
      if (joined.contains(g)) g = groups.size() - 1;
    }
    if (note) continue;
    for (const std::string& name : names) owner[name] = groups.size() - 1;
  }
  return groups;
}

// What is wrong with the packages of an environment is of no interest while its Python cannot start.
bool follows_from_interpreter(std::string_view id) {
  for (const std::string_view other :
       {"interpreter", "disk_space", "memory_limit", "resource_limits", "model", "post_mortem"}) {
    if (id == other) return false;
  }
  return true;
}

// Where a project comes from that is not the environment's own.
void tell_of_path(const Exam& exam, Finding& f) {
  std::set<std::string> said;
  for (const Finding::Install& install : f.installs) {
    const auto r = Requirement::parse(install.requirement);
    const Distribution* d = r ? exam.environment.find(normal_name(r->name)) : nullptr;
    const std::string how = d && !d->editable ? how_on_path(exam, d->site) : "";
    if (!how.empty() && said.insert(how).second)
      f.evidence.push_back(concat(d->name, " comes from there: ", how));
  }
}

// The project that a finding wants written anew, if that is all it wants.
std::string renewed_by(const Finding& f) {
  if (f.severity != Severity::error || f.installs.size() != 1 || !f.installs[0].again ||
      f.id == "missing_libraries")
    return "";
  const auto r = Requirement::parse(f.installs[0].requirement);
  return r ? normal_name(r->name) : "";
}

int rank_of_cause(std::string_view id) {
  int rank = 0;
  for (const std::string_view cause :
       {"architecture", "other_python", "damaged_libraries", "damaged_files", "broken_packages"}) {
    if (id == cause) return rank;
    ++rank;
  }
  return rank;
}

// A project that is to be written anew is so for one reason; others follow from it, and so does what its
// libraries expect of others.
void one_cause_each(Findings& findings) {
  std::map<std::string, size_t> cause;  // by project
  for (size_t i = 0; i < findings.size(); ++i) {
    const std::string project = renewed_by(findings[i]);
    if (project.empty()) continue;
    const auto [it, fresh] = cause.try_emplace(project, i);
    if (!fresh && rank_of_cause(findings[i].id) < rank_of_cause(findings[it->second].id)) it->second = i;
  }
  Findings kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    const std::string project = renewed_by(findings[i]);
    bool follows = !project.empty() && cause.at(project) != i;
    for (const auto& [name, first] : cause) {
      follows |= findings[i].id == "undefined_symbols" && rank_of_cause(findings[first].id) < 5 &&
                 std::any_of(findings[i].installs.begin(), findings[i].installs.end(),
                             [&](const Finding::Install& install) {
                               const auto r = Requirement::parse(install.requirement);
                               return r && normal_name(r->name) == name;
                             });
    }
    if (!follows) kept.push_back(findings[i]);
  }
  findings = std::move(kept);
}

// As many findings of one kind as this have one cause.
constexpr size_t kMany = 6;

}  // namespace

void settle_fixes(const Exam& exam, Findings& findings) {
  for (std::vector<size_t>& members : grouped(findings)) {
    if (members.empty()) continue;
    std::sort(members.begin(), members.end());
    Group group(exam);
    for (const size_t i : members) group.add(findings[i]);
    const std::string command = group.command();
    for (const size_t i : members) {
      findings[i].fix = command;
      tell_of_path(exam, findings[i]);
    }
  }
}

void merge_many(const Exam& exam, Findings& findings) {
  one_cause_each(findings);
  const bool cannot_start = std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.id == "interpreter" && f.severity == Severity::error;
  });
  if (cannot_start) std::erase_if(findings, [](const Finding& f) { return follows_from_interpreter(f.id); });
  if (exam.environment.kind == Environment::Kind::prefix) return;  // a system's Python is not made anew
  std::map<std::string, std::vector<size_t>> kinds;
  for (size_t i = 0; i < findings.size(); ++i) {
    // What is missing or contradicts is put right by one command; what is broken in many places is not.
    // Nor does making anew bring what no metadata asks for.
    const auto& installs = findings[i].installs;
    const bool brings = findings[i].id == "needed_modules" &&
                        std::any_of(installs.begin(), installs.end(),
                                    [](const Finding::Install& install) { return !install.again; });
    if (findings[i].severity == Severity::error && findings[i].id != "requirements" && !brings)
      kinds[findings[i].id].push_back(i);
  }
  std::set<size_t> gone;
  for (const auto& [id, members] : kinds) {
    if (members.size() < kMany) continue;
    Finding& first = findings[members.front()];
    std::vector<std::string> others;
    for (size_t i = 1; i < members.size(); ++i) {
      others.push_back(findings[members[i]].what);
      gone.insert(members[i]);
    }
    first.what = concat(first.what, ", and ", others.size(), " more like it: make this environment anew");
    first.evidence.push_back("also: " + some_of(others, 3));
    first.fix = make_anew_command(exam);
    first.installs.clear();
    first.removes.clear();
  }
  Findings kept;
  for (size_t i = 0; i < findings.size(); ++i) {
    if (!gone.contains(i)) kept.push_back(std::move(findings[i]));
  }
  findings = std::move(kept);
}

}  // namespace plimsoll::doctor
