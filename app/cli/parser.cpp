#include "app/cli/parser.h"

#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

namespace halftone::cli {
namespace {

constexpr std::size_t kNamesWidth = 34; ///< of the help's first column

/// What follows a prefix of a text; nothing: the text begins otherwise.
std::optional<std::string> after(const std::string &text, std::string_view prefix)
{
    if (!text.starts_with(prefix))
        return std::nullopt;
    return text.substr(prefix.size());
}

/// "unknown option --x" where one of the words is an option, which the library lists after those that it takes for its value.
std::string unexpected(const std::string &words)
{
    const std::size_t option = words.starts_with('-') ? 0 : words.rfind(" -");
    if (option == std::string::npos)
        return "unexpected argument " + words;
    const std::size_t begin = words.find('-', option);
    return "unknown option " + words.substr(begin, words.find(' ', begin) - begin);
}

/// The parser library's message in the words of the other errors: place, found, expected.
std::string plainly(const std::string &message)
{
    if (message == "A subcommand is required")
        return "no command given";
    if (const auto given = after(message, "Could not convert: ")) { // "--batch = x"
        const std::size_t equals = given->find(" = ");
        if (equals != std::string::npos)
            return given->substr(0, equals) + ": \"" + given->substr(equals + 3) + "\", expected a number";
    }
    for (const std::string_view prefix :
         {"The following argument was not expected: ", "The following arguments were not expected: "}) {
        if (const auto given = after(message, prefix))
            return unexpected(*given);
    }
    return message;
}

/// "a, b or c"
std::string alternatives(const std::vector<std::string> &values)
{
    std::string text;
    for (std::size_t k = 0; k < values.size(); ++k)
        text += (k == 0 ? "" : k + 1 == values.size() ? " or " : ", ") + values[k];
    return text;
}

CLI::App &app(void *pointer)
{
    return *static_cast<CLI::App *>(pointer);
}

CLI::Option &option(void *pointer)
{
    return *static_cast<CLI::Option *>(pointer);
}

/// Those that oneOf() allows; CLI11 tells them behind the name of the type: "NAME:{a,b}".
std::vector<std::string> valuesOf(const CLI::Option &option)
{
    const std::string type = option.get_type_name();
    const std::size_t begin = type.find('{');
    const std::size_t end = type.find('}', begin);
    return end == std::string::npos ? std::vector<std::string>()
                                    : CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

CommandOutline outlineOf(const CLI::App &command)
{
    CommandOutline outline{command.get_name(), command.get_description(), {}};
    for (const CLI::Option *option : command.get_options()) {
        for (const std::string &name : option->get_lnames())
            outline.options.push_back({"--" + name, option->get_description(),
                                       option->get_items_expected_max() > 0, option->get_required(),
                                       option->get_items_expected_max() > 1, valuesOf(*option)});
    }
    return outline;
}

} // namespace

Option Option::type(const std::string &name) const
{
    option(m_option).type_name(name);
    return *this;
}

Option Option::required(bool isRequired) const
{
    option(m_option).required(isRequired);
    return *this;
}

Option Option::oneOf(std::vector<std::string> values) const
{
    std::string shown;
    for (const std::string &value : values)
        shown += (shown.empty() ? "{" : ",") + value;
    const auto check = [values = std::move(values)](const std::string &value) {
        return std::ranges::find(values, value) != values.end()
            ? std::string()
            : '"' + value + "\", expected " + alternatives(values);
    };
    option(m_option).check(check, shown + '}');
    return *this;
}

Option Option::notEmpty() const
{
    option(m_option).check([](const std::string &value) {
        return value.empty() ? std::string("the name is empty") : std::string();
    });
    return *this;
}

Option Option::positive() const
{
    option(m_option).check([](const std::string &value) {
        const auto number = parseInteger(value);
        return number && *number < 1 ? value + ", expected a positive number" : std::string();
    });
    return *this;
}

Option Option::group(const std::string &title) const
{
    option(m_option).group(title);
    return *this;
}

Option Option::excludes(Option other) const
{
    option(m_option).excludes(&option(other.m_option));
    return *this;
}

Option Option::describe(const std::string &help) const
{
    option(m_option).description(help);
    return *this;
}

Option Command::option(const std::string &name, Target target, const std::string &help)
{
    const auto add = [&](auto *value) { return app(m_app).add_option(name, *value, help); };
    return Option(std::visit(add, target));
}

Option Command::flag(const std::string &name, bool &target, const std::string &help)
{
    return Option(app(m_app).add_flag(name, target, help));
}

Option Command::get(const std::string &name)
{
    return Option(app(m_app).get_option(name));
}

void Command::remove(const std::string &name)
{
    app(m_app).remove_option(app(m_app).get_option(name));
}

bool Command::isGiven(const std::string &name) const
{
    return app(m_app).count(name) > 0;
}

void Command::onChosen(std::function<void()> action)
{
    app(m_app).callback(std::move(action));
}

Parser::Parser(const std::string &description, const std::string &program, const std::string &version)
    : m_app(new CLI::App(description, program))
{
    app(m_app).set_version_flag("--version", version);
    app(m_app).require_subcommand(1);
    app(m_app).get_formatter()->column_width(kNamesWidth);
}

Parser::~Parser()
{
    delete &app(m_app);
}

Command Parser::command(const std::string &name, const std::string &help)
{
    return Command(app(m_app).add_subcommand(name, help));
}

std::vector<std::string> Parser::commandNames() const
{
    std::vector<std::string> names;
    for (const CLI::App *command : app(m_app).get_subcommands([](const CLI::App *) { return true; }))
        names.push_back(command->get_name());
    return names;
}

std::vector<CommandOutline> Parser::commands() const
{
    std::vector<CommandOutline> all;
    for (const CLI::App *command : app(m_app).get_subcommands([](const CLI::App *) { return true; }))
        all.push_back(outlineOf(*command));
    return all;
}

Parser::Outcome Parser::parse(int argc, char **argv)
{
    try {
        app(m_app).parse(argc, argv);
    } catch (const CLI::Success &request) { // --help, --version
        std::ostringstream text;
        static_cast<void>(app(m_app).exit(request, text, text)); // 0
        return {{}, text.str()};
    } catch (const CLI::ParseError &error) {
        return {plainly(error.what()), {}};
    }
    return {};
}

} // namespace halftone::cli
