#include "app/cli/commands.h"
#include "app/cli/files.h"
#include "app/cli/output.h"
#include "core/base/atomic_file.h"
#include "core/base/mapped_file.h"
#include "core/base/text.h"
#include "core/dialect/registry.h"
#include "core/policy/import_lists.h"
#include "core/policy/policy_json.h"
#include "core/results/lists_json.h"

#include <algorithm>
#include <memory>

namespace halftone::cli {
namespace {

struct PolicyCommandOptions
{
    std::string from;
    std::string file;
    std::string out;
    bool json = false;
};

policy::ListOrigin originNamed(std::string_view name)
{
    const auto *const at = std::ranges::find(
        policy::kListOrigins, name, [](policy::ListOrigin origin) { return policy::nameOf(origin); });
    return at == policy::kListOrigins.end() ? policy::ListOrigin::OnnxConverter : *at;
}

void printNames(const char *what, const std::vector<std::string> &names)
{
    print(std::string(what) + " (" + std::to_string(names.size()) + "): " + printable(joined(names, 12))
          + '\n');
}

void printSummary(const policy::Policy &policy, const std::string &out)
{
    printNames("target_dtype_ops", policy.targetOps.value_or(std::vector<std::string>()));
    printNames("fp32_ops", policy.fp32Ops.value_or(std::vector<std::string>()));
    printNames("widest_dtype_ops", policy.widestOps.value_or(std::vector<std::string>()));
    if (!policy.excludedNames.empty())
        printNames("excluded_sym_names", policy.excludedNames);
    print("wrote " + printable(out) + '\n');
}

Result<void> importPolicy(const PolicyCommandOptions &options)
{
    HALFTONE_CHECK(CommandFiles().reads("FILE", options.file).writes("--out", options.out).check());
    const auto dialects = dialect::allDialects();
    const auto named = std::ranges::find_if(dialects, &dialect::Dialect::hasForeignLists);
    if (named == dialects.end())
        return unsupported("--from", "this build lacks the format whose operators these lists name");
    HALFTONE_TRY(const auto mapped, MappedFile::open(options.file));
    auto imported = policy::importLists(originNamed(options.from), mapped->text(), **named);
    if (!imported.ok())
        return inFile(std::move(imported).error(), options.file);
    policy::ImportedLists &lists = imported.value();
    const std::string text = policy::writePolicy(lists.policy);
    if (!options.out.empty())
        HALFTONE_CHECK(writeWhole(options.out, text));
    if (options.json) {
        printJson(results::importedJson(lists, options.from, options.out));
        return {};
    }
    if (!lists.unmatched.empty())
        lists.notes.push_back("no known operator matches " + joined(lists.unmatched, 12));
    tellNotes(options.file, lists.notes);
    if (options.out.empty())
        print(text);
    else
        printSummary(lists.policy, options.out);
    return {};
}

} // namespace

void addPolicy(Parser &app, Action &chosen)
{
    const auto options = std::make_shared<PolicyCommandOptions>();
    Command command = app.command("policy", "Convert another converter's lists to a policy");
    command
        .option("--from", &options->from,
                "Source of the lists: onnxconverter (op_block_list, node_block_list), modelopt (AutoCast's "
                "arguments), tensorflow (allow, infer, deny, clear) or tvm (always, follow, never)")
        .oneOf({"onnxconverter", "modelopt", "tensorflow", "tvm"})
        .type("PROGRAM")
        .required();
    command
        .option("FILE", &options->file,
                "The lists as JSON, Python (a dictionary, assignments or a call) or a command line")
        .required()
        .type("");
    command.option("--out", &options->out, "Write the policy to this file (default: print it)")
        .type("P.policy.json")
        .notEmpty();
    command.flag("--json", options->json, "Print the result as JSON");
    command.onChosen([options, &chosen] {
        chosen = [options](const std::stop_token &) { return importPolicy(*options); };
    });
}

} // namespace halftone::cli
