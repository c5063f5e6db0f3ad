#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// The parser of the command line: a thin front of CLI11, which takes a compiler seconds for every file that sees it.
namespace halftone::cli {

/// Where an option's value goes. What must outlive the parsing; a list takes a value each time that the option is given.
using Target = std::variant<std::string *, std::uint32_t *, std::int64_t *, std::uint64_t *, double *,
                            std::vector<std::string> *>;

/// One option or flag of a command; a handle, valid as long as the Parser.
class Option
{
public:
    Option type(const std::string &name) const; ///< what help calls its value
    Option required(bool isRequired = true) const;
    Option oneOf(std::vector<std::string> values) const; ///< others are refused
    Option notEmpty() const; ///< an empty value is refused: for names of outputs
    Option positive() const; ///< a number below 1 is refused
    Option group(const std::string &title) const; ///< in the help
    Option excludes(Option other) const;
    Option describe(const std::string &help) const; ///< in place of its help so far

private:
    friend class Command;
    explicit Option(void *option)
        : m_option(option)
    {
    }

    void *m_option; ///< CLI::Option
};

/// A command of the program; a handle, valid as long as the Parser.
class Command
{
public:
    /// name  "--long" or, for what stands alone, "MODEL"
    Option option(const std::string &name, Target target, const std::string &help);
    Option flag(const std::string &name, bool &target, const std::string &help);
    Option get(const std::string &name); ///< Needs: added before
    void remove(const std::string &name); ///< Needs: added before
    bool isGiven(const std::string &name) const; ///< Needs: parsed, added before
    void onChosen(std::function<void()> action); ///< once the line is parsed and names the command

private:
    friend class Parser;
    explicit Command(void *app)
        : m_app(app)
    {
    }

    void *m_app; ///< CLI::App
};

/// An option as a program needs it that offers or writes command lines.
struct OptionOutline
{
    std::string name; ///< "--long"
    std::string help;
    bool takesValue = false;
    bool isRequired = false;
    bool isRepeatable = false;
    std::vector<std::string> values; ///< all that it takes, where there are but a few; empty: anything
};

struct CommandOutline
{
    std::string name;
    std::string help;
    std::vector<OptionOutline> options; ///< without what stands alone, such as MODEL
};

/// The program's command line: exactly one command, with its options.
class Parser
{
public:
    Parser(const std::string &description, const std::string &program, const std::string &version);
    ~Parser();
    Parser(const Parser &) = delete;
    Parser &operator=(const Parser &) = delete;

    Command command(const std::string &name, const std::string &help);
    std::vector<std::string> commandNames() const;
    std::vector<CommandOutline> commands() const; ///< with their options, in the order of the help

    /// What came of a line.
    struct Outcome
    {
        std::optional<std::string> problem; ///< in the parser's words: the call is wrong
        std::optional<std::string> answer; ///< to --help or --version, which is all that was asked for
    };
    Outcome parse(int argc, char **argv);

private:
    void *m_app; ///< CLI::App
};

} // namespace halftone::cli
