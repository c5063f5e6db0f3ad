#include "app/cli/commands.h"
#include "app/cli/output.h"
#include "core/backends/backends.h"
#include "core/hardware/catalogue.h"

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::cli {
namespace {

/// Values that an option takes among others, or that the parser leaves to the command to check.
std::vector<std::string> knownValues(std::string_view option)
{
    std::vector<std::string> values;
    if (option == "--target") {
        values = {"float16", "bfloat16"};
    } else if (option == "--backend") {
        for (const backends::BackendInfo &backend : backends::allBackends())
            values.push_back(backend.name);
    } else if (option == "--hardware") {
        values = {std::string(hardware::kThis), std::string(hardware::kThisGpu)};
        for (const auto &chip : hardware::builtIn())
            values.push_back(chip->name);
    }
    return values;
}

std::vector<CommandOutline> outlines(const Parser &app)
{
    std::vector<CommandOutline> commands = app.commands();
    for (CommandOutline &command : commands) {
        for (OptionOutline &option : command.options)
            if (option.takesValue && option.values.empty())
                option.values = knownValues(option.name);
    }
    return commands;
}

template <typename Items, typename NameOf>
std::string spaced(const Items &items, NameOf nameOf)
{
    std::string text;
    for (const auto &item : items)
        text += (text.empty() ? "" : " ") + nameOf(item);
    return text;
}

std::string spacedNames(const std::vector<CommandOutline> &commands)
{
    return spaced(commands, [](const CommandOutline &command) { return command.name; });
}

std::string spacedNames(const std::vector<std::string> &values)
{
    return spaced(values, [](const std::string &value) { return value; });
}

/// `text` with a backslash before each of `special`.
std::string escaped(std::string_view text, std::string_view special)
{
    std::string result;
    for (const char c : text) {
        if (special.find(c) != std::string_view::npos)
            result += '\\';
        result += c;
    }
    return result;
}

/// Within single quotes of bash and zsh.
std::string inQuotes(std::string_view text)
{
    std::string result;
    for (const char c : text)
        result += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return '\'' + result + '\'';
}

/// Where nothing is offered, bash takes names of files by itself.
std::string bashScript(const std::vector<CommandOutline> &commands)
{
    std::string text = R"(# bash completion of halftone-cli: source <(halftone-cli completion bash)
_halftone_cli() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} options=
    if [[ $word == = ]]; then # --option= is three words
        word=
    elif [[ $before == = ]]; then
        before=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W '--help --version )"
        + spacedNames(commands) + R"(' -- "$word")
        return
    fi
    case ${COMP_WORDS[1]} in
)";
    for (const CommandOutline &command : commands) {
        std::string files;
        text += "        " + command.name + ")\n            case $before in\n";
        for (const OptionOutline &option : command.options) {
            if (!option.takesValue)
                continue;
            if (option.values.empty())
                files += (files.empty() ? "" : " | ") + option.name;
            else
                text += "                " + option.name + ") mapfile -t COMPREPLY < <(compgen -W "
                    + inQuotes(spacedNames(option.values)) + " -- \"$word\"); return ;;\n";
        }
        if (!files.empty())
            text += "                " + files + ") return ;;\n";
        text += "            esac\n            options="
            + inQuotes(spaced(command.options, [](const OptionOutline &option) { return option.name; }))
            + "\n            ;;\n";
    }
    return text + R"(    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    fi
}
complete -o bashdefault -o default -F _halftone_cli halftone-cli
)";
}

std::string zshScript(const std::vector<CommandOutline> &commands)
{
    std::string text = R"(#compdef halftone-cli
# zsh completion of halftone-cli: source <(halftone-cli completion zsh)
_halftone_cli() {
    local -a commands
    commands=(
)";
    for (const CommandOutline &command : commands)
        text += "        " + inQuotes(command.name + ':' + escaped(command.help, ":\\")) + '\n';
    text += R"(    )
    if (( CURRENT == 2 )); then
        _describe command commands
        _arguments '--help[Print help and exit]' '--version[Print the version and exit]'
        return
    fi
    shift words
    (( CURRENT-- ))
    case $words[1] in
)";
    for (const CommandOutline &command : commands) {
        text += "        " + command.name + ")\n            _arguments \\\n";
        for (const OptionOutline &option : command.options) {
            std::string row = '*' + option.name + (option.takesValue ? "=" : "") + '['
                + escaped(option.help, "[]\\") + ']';
            if (option.takesValue)
                row += option.values.empty() ? ":value:_files"
                                             : ":value:(" + spacedNames(option.values) + ')';
            text += "                " + inQuotes(row) + " \\\n";
        }
        text += "                '*:file:_files'\n            ;;\n";
    }
    return text + R"(    esac
}
if [[ $funcstack[1] == _halftone_cli ]]; then
    _halftone_cli "$@"
else
    compdef _halftone_cli halftone-cli
fi
)";
}

std::string fishScript(const std::vector<CommandOutline> &commands)
{
    const auto text = [](std::string_view help) { return '\'' + escaped(help, "'\\") + '\''; };
    std::string script
        = "# fish completion of halftone-cli: halftone-cli completion fish | source\n"
          "complete -c halftone-cli -n __fish_use_subcommand -f -l help -d 'Print help and exit'\n"
          "complete -c halftone-cli -n __fish_use_subcommand -f -l version"
          " -d 'Print the version and exit'\n";
    for (const CommandOutline &command : commands)
        script += "complete -c halftone-cli -n __fish_use_subcommand -f -a " + command.name + " -d "
            + text(command.help) + '\n';
    for (const CommandOutline &command : commands) {
        const std::string begin
            = "complete -c halftone-cli -n '__fish_seen_subcommand_from " + command.name + "' -l ";
        for (const OptionOutline &option : command.options)
            script += begin + option.name.substr(2)
                + (!option.takesValue          ? ""
                       : option.values.empty() ? " -r -F"
                                               : " -x -a " + text(spacedNames(option.values)))
                + " -d " + text(option.help) + '\n';
    }
    return script;
}

} // namespace

void addCompletion(Parser &app, Action &chosen)
{
    const auto shell = std::make_shared<std::string>();
    Command command = app.command("completion", "Print a script that completes command lines in a shell");
    command.option("SHELL", shell.get(), "Shell that reads the script")
        .oneOf({"bash", "zsh", "fish"})
        .required();
    command.onChosen([shell, &app, &chosen] {
        chosen = [shell, &app](const std::stop_token &) -> Result<void> {
            const std::vector<CommandOutline> commands = outlines(app);
            print(*shell == "bash"      ? bashScript(commands)
                      : *shell == "zsh" ? zshScript(commands)
                                        : fishScript(commands));
            return {};
        };
    });
}

} // namespace halftone::cli
