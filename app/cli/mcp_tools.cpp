#include "app/cli/mcp_tools.h"

#include "core/base/text.h"
#include "core/hardware/catalogue.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace halftone::cli {
namespace {

using namespace std::string_view_literals;

constexpr std::array kCommands{"info"sv,   "convert"sv, "compare"sv, "profile"sv,
                               "verify"sv, "tune"sv,    "quantize"sv};

/// Every tool gives JSON, and shards are for scripts that start many processes.
constexpr std::array kLeftOut{"--help"sv, "--json"sv, "--shard"sv, "--count-shards"sv, "--groups-only"sv};

/// Options whose values are texts. Any other option that takes a value and does not list them names a file.
constexpr std::array kTexts{
    "--accumulate"sv, "--against-backend"sv, "--backend"sv,       "--batch"sv,     "--conditional"sv,
    "--examples"sv,   "--exclude"sv,         "--exclude-op"sv,    "--fp32-op"sv,   "--input"sv,
    "--int8-op"sv,    "--layers"sv,          "--limit"sv,         "--lists"sv,     "--memory"sv,
    "--mode"sv,       "--neutral-op"sv,      "--opset"sv,         "--optimise"sv,  "--override"sv,
    "--percentile"sv, "--points"sv,          "--random-params"sv, "--repeats"sv,   "--shape"sv,
    "--target"sv,     "--target-op"sv,       "--threads"sv,       "--threshold"sv, "--time"sv,
    "--warmup"sv,     "--widest-op"sv,       "--worst"sv,
};

template <std::size_t size>
bool contains(const std::array<std::string_view, size> &names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

/// "--fp32-op" as "fp32_op"
std::string argumentName(const OptionOutline &option)
{
    std::string name = option.name.substr(2);
    std::ranges::replace(name, '-', '_');
    return name;
}

bool isChip(const std::string &name)
{
    return name == hardware::kThis || name == hardware::kThisGpu
        || std::ranges::any_of(hardware::builtIn(), [&](const auto &chip) { return chip->name == name; });
}

bool namesFile(const OptionOutline &option, const std::string &value)
{
    if (option.name == "--hardware")
        return !isChip(value);
    if (option.name.ends_with("backend")) // a name, never a library
        return value.find('/') != std::string::npos;
    return option.values.empty() && !contains(kTexts, option.name);
}

Json schemaOf(const OptionOutline &option)
{
    Json value;
    if (!option.takesValue)
        value = {{"type", "boolean"}};
    else if (!option.values.empty())
        value = {{"type", "string"}, {"enum", option.values}};
    else if (contains(kTexts, option.name) && !option.isRepeatable)
        value = {{"type", {"string", "number"}}};
    else
        value = {{"type", "string"}};
    if (option.isRepeatable)
        value = {{"type", "array"}, {"items", std::move(value)}};
    value["description"] = option.help;
    return value;
}

Json toolOf(const CommandOutline &command)
{
    Json properties{{"model", {{"type", "string"}, {"description", "Path of the model"}}}};
    Json required = Json::array({"model"});
    for (const OptionOutline &option : command.options) {
        properties[argumentName(option)] = schemaOf(option);
        if (option.isRequired)
            required.push_back(argumentName(option));
    }
    return {
        {"name", command.name},
        {"description", command.help + ". Returns the JSON of 'halftone-cli " + command.name + " --json'"},
        {"inputSchema",
         {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}}}};
}

/// A text or number as the command line has it.
std::optional<std::string> textOf(const Json &value)
{
    if (value.is_number())
        return jsonText(value);
    if (value.is_string() && value.get_ref<const std::string &>().find('\0') == std::string::npos)
        return value.get<std::string>();
    return {};
}

/// Adds `option` with each of its values to `line`.
Result<void> append(std::vector<std::string> &line, const OptionOutline &option, const Json &given,
                    const Folders &folders)
{
    const std::string name = argumentName(option);
    if (!option.takesValue) {
        if (!given.is_boolean())
            return badCall(name, given.type_name(), "true or false");
        if (given.get<bool>())
            line.push_back(option.name);
        return {};
    }
    const bool isList = option.isRepeatable && given.is_array();
    for (std::size_t k = 0; k < (isList ? given.size() : 1); ++k) {
        const Json &value = isList ? given[k] : given;
        std::optional<std::string> text = textOf(value);
        if (!text)
            return badCall(name, value.type_name(), "a string or number");
        if (namesFile(option, *text)) {
            Result<std::string> path = folders.resolved(*text);
            if (!path.ok())
                return badCall(name, path.error().found, path.error().expected);
            text = std::move(path).value();
        }
        line.push_back(option.name + '=' + *text);
    }
    return {};
}

Error unknownArgument(const CommandOutline &command, const std::string &name)
{
    std::vector<std::string> known{"model"};
    for (const OptionOutline &option : command.options)
        known.push_back(argumentName(option));
    return badCall(
        {},
        "unknown argument \"" + name + '"'
            + didYouMean(nearestNames(name, std::vector<std::string_view>(known.begin(), known.end()))));
}

} // namespace

Tools::Tools(std::vector<CommandOutline> commands, Folders folders)
    : m_folders(std::move(folders))
{
    for (CommandOutline &command : commands) {
        if (!contains(kCommands, command.name))
            continue;
        std::erase_if(command.options, [](const auto &option) { return contains(kLeftOut, option.name); });
        m_commands.push_back(std::move(command));
    }
}

const CommandOutline *Tools::find(std::string_view name) const
{
    const auto found = std::ranges::find(m_commands, name, &CommandOutline::name);
    return found == m_commands.end() ? nullptr : &*found;
}

Json Tools::list() const
{
    Json tools = Json::array();
    for (const CommandOutline &command : m_commands)
        tools.push_back(toolOf(command));
    return tools;
}

std::string Tools::instructions() const
{
    return "Halftone converts neural networks to float16, bfloat16 and int8, operator by operator. Files are "
           "read and "
           "written only in "
        + joined(m_folders.paths()) + "; relative paths begin in the first folder.";
}

Result<std::vector<std::string>> Tools::commandLine(std::string_view name, const Json &arguments) const
{
    const CommandOutline &command = *find(name);
    const auto model = arguments.find("model");
    if (model == arguments.end() || !textOf(*model))
        return badCall("model", "missing", "the path of a model");
    HALFTONE_TRY(const std::string path, m_folders.resolved(*textOf(*model)));
    std::vector<std::string> line{command.name, path, "--json"};
    for (const auto &[key, value] : arguments.items()) {
        if (key == "model" || value.is_null())
            continue;
        const auto option = std::ranges::find(command.options, key, argumentName);
        if (option == command.options.end())
            return unknownArgument(command, key);
        HALFTONE_CHECK(append(line, *option, value, m_folders));
    }
    return line;
}

} // namespace halftone::cli
