#include "app/cli/commands.h"
#include "app/cli/format_texts.h"
#include "app/cli/output.h"
#include "core/base/text.h"
#include "core/dialect/registry.h"
#include "core/policy/op_lists.h"
#include "core/results/lists_json.h"

#include <algorithm>

namespace halftone::cli {
namespace {

struct ListsOptions
{
    std::string target = "float16";
    std::string dialect; ///< empty: that of the version, otherwise the default
    std::string version; ///< empty: the first of the dialect
    bool json = false;
};

void printNames(std::string_view title, const std::vector<std::string> &names)
{
    constexpr std::size_t kLineWidth = 100;
    std::string text = std::string(title) + " (" + std::to_string(names.size()) + ")\n";
    std::string line;
    for (const std::string &name : names) {
        if (!line.empty() && line.size() + name.size() + 2 > kLineWidth) {
            text += "  " + line + ",\n";
            line.clear();
        }
        line += (line.empty() ? "" : ", ") + name;
    }
    print(text + (line.empty() ? "" : "  " + line + '\n') + '\n');
}

std::string allVersions()
{
    std::vector<std::string> versions;
    for (const dialect::Dialect *const dialect : dialect::allDialects())
        versions.insert(versions.end(), dialect->listVersions().begin(), dialect->listVersions().end());
    std::string text;
    for (std::size_t k = 0; k < versions.size(); ++k)
        text += (k == 0 ? "" : k + 1 == versions.size() ? " or " : ", ") + versions[k];
    return text;
}

/// The dialect that is asked for; null: there is none with lists.
const dialect::Dialect *dialectFor(const ListsOptions &options)
{
    const auto hasVersion = [&options](const dialect::Dialect *dialect) {
        const auto versions = dialect->listVersions();
        return std::ranges::find(versions, options.version) != versions.end();
    };
    const auto all = dialect::allDialects();
    const auto found = options.dialect.empty()
        ? std::ranges::find_if(all, hasVersion)
        : std::ranges::find(all, options.dialect, &dialect::Dialect::name);
    if (options.dialect.empty() && options.version.empty())
        return &dialect::defaultDialect();
    return found == all.end() || (*found)->listVersions().empty() ? nullptr : *found;
}

Result<void> lists(const ListsOptions &options)
{
    const dialect::Dialect *const dialect = dialectFor(options);
    if (dialect == nullptr && options.dialect.empty())
        return badCall("--version", '"' + options.version + '"', allVersions());
    if (dialect == nullptr)
        return unsupported("--dialect", '"' + options.dialect + "\" has no built-in lists in this build",
                           std::string(dialect::defaultDialect().name()));
    const auto target = tensor::dtypeNamed(options.target);
    auto found = policy::builtInLists(*dialect, target.value_or(tensor::DType::Unknown),
                                      options.version.empty() ? dialect->listVersions().front()
                                                              : std::string_view(options.version));
    if (!found.ok()) {
        Error error = std::move(found).error();
        error.code = Errc::BadCall;
        if (error.where == "target_dtype") {
            error.where = "--target";
            error.found = '"' + options.target + '"';
        }
        return error;
    }
    const policy::OpLists &all = *found.value();
    if (options.json) {
        printJson(results::listsJson(all));
        return {};
    }
    print(all.source + ", " + std::string(tensor::nameOf(all.targetType)) + "\n\n");
    for (const policy::List list : results::kNameLists)
        printNames(policy::nameOf(list), all.names(list));
    std::vector<std::string> conditions;
    for (const policy::ConditionalRule &rule : all.conditional)
        conditions.push_back(rule.op + " where " + rule.attribute + " is " + joined(rule.values));
    printNames(policy::nameOf(policy::List::Conditional), conditions);
    return {};
}

std::string dialectNames()
{
    std::string names;
    for (const dialect::Dialect *const dialect : dialect::allDialects())
        names.append(names.empty() ? "" : " or ").append(dialect->name());
    return names;
}

} // namespace

void addLists(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<ListsOptions>();
    Command command = app.command("lists", "Print the built-in operator lists");
    command.option("--target", &options->target, "Target type: float16 or bfloat16 (default: float16)")
        .type("DTYPE");
    command
        .option("--dialect", &options->dialect,
                "Operators of this format: " + dialectNames()
                    + " (default: " + std::string(dialect::defaultDialect().name())
                    + ", or the one that --version belongs to)")
        .type("NAME");
    command
        .option("--version", &options->version,
                onlyWith(hasListVersions) + "version of the lists: " + listVersionsHelp()
                    + " (default: the first)")
        .type("VERSION");
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen(
        [options, &chosen] { chosen = [options](const std::stop_token &) { return lists(*options); }; });
}

} // namespace halftone::cli
