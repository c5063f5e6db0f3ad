#include "core/policy/import_lists.h"

#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/policy/argument_scan.h"
#include "core/policy/op_lists.h"
#include "core/policy/pattern.h"
#include "core/policy/policy_options.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <set>

namespace halftone::policy {
namespace {

using Json = SortedJson;
using Arguments = std::map<std::string, ArgumentValue>;

const Json &foreign(ListOrigin origin)
{
    static const Json kAll = parseSorted(resource("oplists/foreign.json"));
    return kAll.at(nameOf(origin));
}

bool isTrue(const Arguments &arguments, std::string_view key)
{
    const auto at = arguments.find(plainKey(key));
    return at != arguments.end() && plainKey(at->second.text) == "true";
}

/// What several classes have in common: lists begun from the built-in ones.
class Lists
{
public:
    Lists(const OpLists &builtIn, ImportedLists &result)
        : m_builtIn(builtIn)
        , m_result(result)
    {
        for (const List list : {List::Target, List::Fp32, List::Widest, List::Neutral}) {
            for (const std::string &op : builtIn.names(list))
                m_places.insert_or_assign(op, list);
        }
        for (const ConditionalRule &rule : builtIn.conditional)
            m_places.insert_or_assign(rule.op, List::Neutral);
    }

    /// All operators that may stand there.
    void lowerAll()
    {
        for (auto &[op, list] : m_places) {
            const dialect::OpInfo *const info = m_builtIn.dialect->findOp(op);
            if (info != nullptr && info->mayHaveInputs())
                list = List::Target;
        }
    }

    /// False for a name that no operator has.
    bool place(const std::string &op, List list)
    {
        const dialect::OpInfo *const info = m_builtIn.dialect->findOp(op);
        if (info == nullptr)
            return false;
        if (list == List::Target && !info->mayHaveInputs())
            list = List::Neutral;
        m_places.insert_or_assign(info->name, list);
        return true;
    }

    /// The place of what follows its inputs.
    List follows(const std::string &op) const
    {
        return m_builtIn.holds(List::Widest, op) ? List::Widest : List::Neutral;
    }

    void placeNamed(const std::vector<std::string> &ops, List list)
    {
        for (const std::string &op : ops) {
            if (!place(op, list))
                m_result.unmatched.push_back(op);
        }
    }

    void finish()
    {
        Policy &policy = m_result.policy;
        policy.targetOps.emplace();
        policy.fp32Ops.emplace();
        policy.widestOps.emplace();
        policy.conditionalOps.emplace();
        for (const auto &[op, list] : m_places) {
            auto *const names = list == List::Target ? &policy.targetOps
                : list == List::Fp32                 ? &policy.fp32Ops
                : list == List::Widest               ? &policy.widestOps
                                                     : nullptr;
            if (names)
                (*names)->push_back(op);
        }
    }

private:
    const OpLists &m_builtIn;
    ImportedLists &m_result;
    std::map<std::string, List> m_places;
};

std::vector<std::string> namesIn(const Arguments &arguments, std::string_view key)
{
    const auto at = arguments.find(plainKey(key));
    return at == arguments.end() ? std::vector<std::string>() : at->second.names;
}

bool isGiven(const Arguments &arguments, std::string_view key)
{
    const auto at = arguments.find(plainKey(key));
    return at != arguments.end() && !at->second.isNone;
}

/// Lists may be put together from the converter's own default list; of another variable nobody knows what it holds.
Result<bool> usesDefault(const Arguments &arguments, std::string_view key, std::string_view defaultName)
{
    const auto at = arguments.find(plainKey(key));
    if (at == arguments.end() || at->second.isNone)
        return true;
    const ArgumentValue &value = at->second;
    const bool isBare = !value.isList && value.names.empty();
    bool found = isBare && value.text.ends_with(defaultName);
    if (isBare && !found)
        return badInput("line " + std::to_string(value.line),
                        inQuotes(printable(value.text, 40)) + " as " + std::string(key),
                        "a list of names in quotes");
    for (const std::string &variable : value.variables) {
        if (!variable.ends_with(defaultName))
            return badInput("line " + std::to_string(value.line),
                            "the variable " + inQuotes(printable(variable, 40)) + " in " + std::string(key),
                            "names in quotes");
        found = true;
    }
    return found;
}

std::vector<std::string> blockedByDefault(ListOrigin origin)
{
    return foreign(origin).at("blocked").get<std::vector<std::string>>();
}

/// Names that the program never lowers, whether or not they are operators here.
void placeDefaults(ListOrigin origin, Lists &lists)
{
    for (const std::string &op : blockedByDefault(origin))
        lists.place(op, List::Fp32);
}

Result<void> importOnnxConverter(const Arguments &arguments, Lists &lists, ImportedLists &result)
{
    lists.lowerAll();
    HALFTONE_TRY(const bool withDefault, usesDefault(arguments, "op_block_list", "DEFAULT_OP_BLOCK_LIST"));
    if (withDefault)
        placeDefaults(ListOrigin::OnnxConverter, lists);
    lists.placeNamed(namesIn(arguments, "op_block_list"), List::Fp32);
    result.policy.excludedNames = namesIn(arguments, "node_block_list");
    result.policy.keepIoTypes = isTrue(arguments, "keep_io_types");
    for (const std::string_view bound : {"min_positive_val", "max_finite_val"}) {
        if (isGiven(arguments, bound))
            result.notes.push_back(std::string(bound)
                                   + ": not imported; a policy clamps parameters to the range of the type "
                                     "and rounds small values");
    }
    result.policy.clamp = true;
    return {};
}

/// re.match finds its pattern at the start of a name.
void excludeMatches(const std::string &expression, ImportedLists &result)
{
    const std::string pattern = "^(" + expression + ")";
    if (auto compiled = Pattern::compile(pattern); !compiled.ok()) {
        result.notes.push_back("nodes_to_exclude: " + inQuotes(printable(expression, 80)) + ": "
                               + compiled.error().message());
        return;
    }
    result.policy.excludedNames.push_back('/' + pattern + '/');
}

Result<void> importModelOpt(const Arguments &arguments, Lists &lists, ImportedLists &result)
{
    lists.lowerAll();
    placeDefaults(ListOrigin::ModelOpt, lists);
    for (const std::string_view key : {"op_types_to_exclude", "op_block_list"})
        lists.placeNamed(namesIn(arguments, key), List::Fp32);
    lists.placeNamed(namesIn(arguments, "op_types_to_include"), List::Target);
    for (const std::string &expression : namesIn(arguments, "nodes_to_exclude"))
        excludeMatches(expression, result);
    for (const std::string &name : namesIn(arguments, "nodes_to_include")) {
        if (name.find_first_of("*+?[](){}|^$\\") == std::string::npos)
            result.policy.nodeOverrides.insert_or_assign(name, result.policy.target);
        else
            result.notes.push_back("nodes_to_include: " + inQuotes(printable(name, 80))
                                   + " is a pattern; overrides only support node names");
    }
    result.policy.keepIoTypes = isTrue(arguments, "keep_io_types");
    for (const std::string_view limit : {"data_max", "init_max", "max_depth_of_reduction"}) {
        if (isGiven(arguments, limit))
            result.notes.push_back(std::string(limit)
                                   + " depends on values of the model: not imported. calibrate lists the "
                                     "tensors that exceed a range");
    }
    return {};
}

/// One of the classes that the other program knows.
struct ForeignClass
{
    std::string_view name;
    std::vector<std::string_view> keys; ///< under which people give it
    enum class Asks : std::uint8_t
    {
        Target,
        Follow,
        Fp32
    } asks; ///< in the order in which the latter wins
};

using Asks = ForeignClass::Asks;

std::span<const ForeignClass> classesOf(ListOrigin origin)
{
    static const std::vector<ForeignClass> kTensorFlow{
        {"allow", {"allow", "allowlist", "whitelist"}, Asks::Target},
        {"infer", {"infer", "inferlist", "graylist"}, Asks::Follow},
        {"deny", {"deny", "denylist", "blacklist"}, Asks::Fp32},
        {"clear", {"clear", "clearlist"}, Asks::Follow}};
    static const std::vector<ForeignClass> kTvm{
        {"always", {"always", "defaultalwayslist", "alwayslist"}, Asks::Target},
        {"follow", {"follow", "defaultfollowlist", "followlist"}, Asks::Follow},
        {"never", {"never", "defaultneverlist", "neverlist", "neverbydefault"}, Asks::Fp32}};
    return origin == ListOrigin::TensorFlow ? kTensorFlow : kTvm;
}

constexpr std::string_view kVariable = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_";

/// Does a list that is given name it?
bool isPlaced(ListOrigin origin, const std::string &name, const Arguments &arguments)
{
    for (const ForeignClass &one : classesOf(origin)) {
        for (const std::string_view key : one.keys) {
            const auto given = namesIn(arguments, key);
            if (std::ranges::find(given, name) != given.end())
                return true;
        }
    }
    return false;
}

/// What the class holds, grappler's own lists and changes to them included.
std::vector<std::string> membersOf(ListOrigin origin, const ForeignClass &one, const Arguments &arguments)
{
    std::set<std::string> names;
    bool isListed = false;
    for (const std::string_view key : one.keys) {
        isListed = isListed || isGiven(arguments, key);
        const auto given = namesIn(arguments, key);
        names.insert(given.begin(), given.end());
    }
    if (!isListed && foreign(origin).contains("lists")) {
        for (const std::string name : foreign(origin).at("lists").at(one.name)) {
            if (!isPlaced(origin, name, arguments))
                names.insert(name);
        }
    }
    const auto eachOf = [&](std::string_view key, std::string_view change, const auto &use) {
        for (const std::string &given :
             namesIn(arguments, std::string(kVariable) + std::string(key) + std::string(change)))
            for (std::string_view rest = given; !rest.empty();) {
                const std::size_t comma = std::min(rest.find(','), rest.size());
                use(std::string(trimmed(rest.substr(0, comma))));
                rest.remove_prefix(std::min(comma + 1, rest.size()));
            }
    };
    for (const std::string_view key : one.keys) {
        eachOf(key, "add", [&](const std::string &name) { names.insert(name); });
        eachOf(key, "remove", [&](const std::string &name) { names.erase(name); });
    }
    return {names.begin(), names.end()};
}

std::string wordOf(Asks asks)
{
    return asks == Asks::Target ? "the target type"
        : asks == Asks::Follow  ? "the type of its inputs"
                                : "float32";
}

void importClasses(ListOrigin origin, const Arguments &arguments, Lists &lists, ImportedLists &result)
{
    const Json &names = foreign(origin).at("names");
    std::map<std::string, std::pair<Asks, std::string>> asked; // by operator: what, and by which name
    for (const ForeignClass &one : classesOf(origin)) {
        for (const std::string &member : membersOf(origin, one, arguments)) {
            const std::string name = member.starts_with("relax.") ? member.substr(6) : member;
            if (!names.contains(name)) {
                result.unmatched.push_back(member);
                continue;
            }
            for (const std::string op : names.at(name)) {
                const auto [at, isNew] = asked.try_emplace(op, one.asks, member);
                if (isNew || at->second.first == one.asks)
                    continue;
                const auto wider = std::max(at->second.first, one.asks);
                std::string note = op;
                note.append(": ")
                    .append(at->second.second)
                    .append(" requests ")
                    .append(wordOf(at->second.first));
                note.append(", ").append(member).append(" requests ").append(wordOf(one.asks));
                result.notes.push_back(note.append("; ").append(wordOf(wider)).append(" is used"));
                at->second = {wider, wider == one.asks ? member : at->second.second};
            }
        }
    }
    // Grappler leaves alone what stands in no list; TVM lets it follow.
    for (const auto &[name, ops] : names.items()) {
        for (const std::string op : ops)
            asked.try_emplace(op, origin == ListOrigin::TensorFlow ? Asks::Fp32 : Asks::Follow, name);
    }
    for (const auto &[op, ask] : asked)
        lists.place(op,
                    ask.first == Asks::Target     ? List::Target
                        : ask.first == Asks::Fp32 ? List::Fp32
                                                  : lists.follows(op));
}

std::vector<std::string_view> keysOf(ListOrigin origin, std::vector<std::string> &made)
{
    if (origin == ListOrigin::OnnxConverter)
        return {"op_block_list", "node_block_list", "keep_io_types", "min_positive_val", "max_finite_val"};
    if (origin == ListOrigin::ModelOpt)
        return {"op_types_to_exclude",   "nodes_to_exclude", "op_types_to_include",
                "nodes_to_include",      "op_block_list",    "low_precision_type",
                "keep_io_types",         "data_max",         "init_max",
                "max_depth_of_reduction"};
    for (const ForeignClass &one : classesOf(origin)) {
        for (const std::string_view key : one.keys) {
            made.emplace_back(key);
            if (origin == ListOrigin::TensorFlow) {
                made.push_back(std::string(kVariable) + std::string(key) + "add");
                made.push_back(std::string(kVariable) + std::string(key) + "remove");
            }
        }
    }
    return {made.begin(), made.end()};
}

std::string_view lookedFor(ListOrigin origin)
{
    switch (origin) {
    case ListOrigin::OnnxConverter:
        return "op_block_list, node_block_list or keep_io_types of convert_float_to_float16";
    case ListOrigin::ModelOpt:
        return "nodes_to_exclude, op_types_to_exclude or other arguments of autocast";
    case ListOrigin::TensorFlow:
        return "allow, infer, deny or clear lists, or TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_… variables";
    case ListOrigin::Tvm:
        break;
    }
    return "always, follow or never lists";
}

} // namespace

std::string_view nameOf(ListOrigin origin)
{
    constexpr std::array<std::string_view, kListOrigins.size()> kNames{"onnxconverter", "modelopt",
                                                                       "tensorflow", "tvm"};
    return kNames[static_cast<std::size_t>(origin)];
}

Result<ImportedLists> importLists(ListOrigin origin, std::string_view text, const dialect::Dialect &dialect)
{
    std::vector<std::string> made;
    HALFTONE_TRY(const Arguments arguments, scanArguments(text, keysOf(origin, made)));
    if (arguments.empty())
        return badInput({}, "contains nothing that " + std::string(nameOf(origin)) + " reads",
                        std::string(lookedFor(origin)));
    ImportedLists result;
    if (const auto type = arguments.find(plainKey("low_precision_type")); type != arguments.end())
        HALFTONE_CHECK(setTarget(result.policy, type->second.text));
    HALFTONE_TRY(const OpLists *const builtIn,
                 builtInLists(dialect, result.policy.target, result.policy.listVersion));
    Lists lists(*builtIn, result);
    if (origin == ListOrigin::OnnxConverter)
        HALFTONE_CHECK(importOnnxConverter(arguments, lists, result));
    else if (origin == ListOrigin::ModelOpt)
        HALFTONE_CHECK(importModelOpt(arguments, lists, result));
    else
        importClasses(origin, arguments, lists, result);
    lists.finish();
    return result;
}

} // namespace halftone::policy
