// plimsoll completion, plimsoll man: made from the commands themselves.
#include <fmt/format.h>

#include "command.h"

namespace {

std::vector<const CLI::App*> subcommands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string words_of(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : subcommands(app)) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

void add_cases(const CLI::App& app, const std::string& path, std::string& cases) {
  for (const CLI::App* sub : subcommands(app)) {
    const std::string name = path.empty() ? sub->get_name() : path + " " + sub->get_name();
    cases += fmt::format("    \"{}\") known=\"{}\" ;;\n", name, words_of(*sub));
    add_cases(*sub, name, cases);
  }
}

constexpr const char* kZshStart =
    "whence compdef > /dev/null || { autoload -U compinit && compinit -i; }\n"
    "autoload -U +X bashcompinit && bashcompinit\n";

// One function serves bash, and zsh through its bashcompinit; `path` and `words` mean something else to zsh.
std::string bash_script(const CLI::App& root) {
  std::string cases;
  add_cases(root, "", cases);
  return fmt::format(
      R"(# Completion of plimsoll. bash: source <(plimsoll completion bash); zsh: source <(plimsoll completion zsh)
_plimsoll() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command="" word known=""
  for word in "${{COMP_WORDS[@]:1:$((COMP_CWORD - 1))}}"; do
    case $word in -*) break ;; *) command="${{command:+$command }}$word" ;; esac
  done
  while :; do
    case $command in
    "") known="{}" ;;
{}    esac
    [ -n "$known" ] && break
    case $command in *" "*) command=${{command% *}} ;; *) command="" ;; esac
  done
  COMPREPLY=($(compgen -W "$known" -- "$current"))
  case $current in -*) ;; *) COMPREPLY+=($(compgen -f -- "$current")) ;; esac
}}
complete -o filenames -F _plimsoll plimsoll
)",
      words_of(root), cases);
}

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// `seen` is fish's condition for being inside `app`; empty at the root.
void add_fish(const CLI::App& app, const std::string& seen, std::string& script) {
  std::string names;
  for (const CLI::App* sub : subcommands(app)) names += " " + sub->get_name();
  std::string here = seen.empty() ? "__fish_use_subcommand" : seen;
  if (!seen.empty() && !names.empty()) here += "; and not __fish_seen_subcommand_from" + names;
  const std::string rule = fmt::format("complete -c plimsoll -n '{}'", here);
  for (const CLI::App* sub : subcommands(app)) {
    script += fmt::format("{} -f -a {} -d {}\n", rule, sub->get_name(), fish_quoted(sub->get_description()));
    add_fish(*sub, (seen.empty() ? "" : seen + "; and ") + "__fish_seen_subcommand_from " + sub->get_name(),
             script);
  }
  for (const CLI::Option* option : app.get_options()) {
    const char* value = option->get_type_size() > 0 ? " -r" : "";
    for (const std::string& name : option->get_lnames()) {
      script += fmt::format("{} -l {}{} -d {}\n", rule, name, value, fish_quoted(option->get_description()));
    }
  }
}

std::string fish_script(const CLI::App& root) {
  std::string script = "# Completion of plimsoll: plimsoll completion fish | source\n";
  add_fish(root, "", script);
  return script;
}

// roff reads a dot or a quote at the start of a line as a request, and a backslash anywhere.
std::string roff(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

void add_manual(const CLI::App& app, const std::string& path, std::string& page) {
  for (const CLI::App* sub : subcommands(app)) {
    const std::string name = path + " " + sub->get_name();
    page += fmt::format(".SS {}\n{}\n", roff(name), roff(sub->get_description()));
    for (const CLI::Option* option : sub->get_options()) {
      page += fmt::format(".TP\n.B {}\n{}\n",
                          roff(option->get_name(option->get_positional() ? true : false, true)),
                          roff(option->get_description()));
    }
    if (!sub->get_footer().empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(sub->get_footer()));
    add_manual(*sub, name, page);
  }
}

std::string manual(const CLI::App& root) {
  std::string page = fmt::format(
      ".TH PLIMSOLL 1 \"\" \"plimsoll {}\" \"User Commands\"\n.SH NAME\nplimsoll \\- {}\n.SH SYNOPSIS\n"
      ".B plimsoll\n.I command\n[\\fIoptions\\fR]\n.SH COMMANDS\n",
      PLIMSOLL_VERSION, roff(root.get_description()));
  add_manual(root, "plimsoll", page);
  return page + fmt::format(".SH EXIT STATUS\n.nf\n{}\n.fi\n", roff(plimsoll::cli::kExitStatus));
}

}  // namespace

void cmd_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("completion", "Print a script that completes plimsoll's commands in a shell");
  command->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Example:\n  plimsoll completion bash > ~/.local/share/bash-completion/completions/plimsoll");
  command->callback([&app, shell] {
    if (*shell == "zsh") fmt::print("{}", kZshStart);
    fmt::print("{}", *shell == "fish" ? fish_script(app) : bash_script(app));
  });
  CLI::App* man = app.add_subcommand("man", "Print the manual page");
  man->footer("Example:\n  plimsoll man > plimsoll.1 && man ./plimsoll.1");
  man->callback([&app] { fmt::print("{}", manual(app)); });
}
