#include "core/policy/rules.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/policy/condition_check.h"
#include "core/policy/int8_forms.h"
#include "core/policy/op_lists.h"
#include "core/policy/policy_fields.h"
#include "core/policy/policy_options.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <unordered_set>

namespace halftone::policy {
namespace {

using dialect::OpInfo;

/// Who places an operator, and what that is called.
struct Source
{
    Origin origin;
    std::string_view name;
};

constexpr Source kGiven{Origin::Given, "policy"};
constexpr Source kAdded{Origin::Added, "added"};
constexpr Source kMoved{Origin::Moved, "moved"};

/// An operator as some list names it.
struct Named
{
    std::string op; ///< canonical; as written when the dialect has no such operator
    std::string entry; ///< as Rules::Place has it
    const OpInfo *info = nullptr;
};

const OpLists *anyListsWith(const dialect::Dialect &dialect, std::string_view op)
{
    for (const std::string_view version : dialect.listVersions()) {
        for (const tensor::DType type : {tensor::DType::F16, tensor::DType::BF16}) {
            const OpLists *const lists = builtInLists(dialect, type, version).value();
            for (const List list :
                 {List::Target, List::Fp32, List::Widest, List::Conditional, List::Neutral}) {
                if (lists->holds(list, op))
                    return lists;
            }
        }
    }
    return nullptr;
}

std::string describe(const Rules::Place &place)
{
    return std::string(nameOf(place.list)) + " (" + std::string(place.source) + ")";
}

Error unknownOperator(const dialect::Dialect &dialect, std::string where, std::string_view op)
{
    std::vector<std::string_view> names;
    for (const OpInfo *const info : dialect.operators())
        names.emplace_back(info->name);
    return badInput(std::move(where),
                    "unknown operator " + inQuotes(op) + didYouMean(nearestNames(op, names)),
                    "an operator of " + std::string(dialect.title()));
}

/// Where a format has operators of its own and of domains ("com.microsoft.Gelu"), anybody may add operators to the latter: their
/// names are taken as written.
bool isOfOtherDomain(const dialect::Dialect &dialect, std::string_view op)
{
    const auto hasDomain = [](std::string_view name) { return name.find('.') != std::string_view::npos; };
    const auto all = dialect.operators();
    return hasDomain(op)
        && std::ranges::any_of(all, [&](const OpInfo *info) { return hasDomain(info->name); })
        && std::ranges::any_of(all, [&](const OpInfo *info) { return !hasDomain(info->name); });
}

/// Tells which setting failed.
Result<void> of(Field field, Result<void> outcome)
{
    return outcome.ok() ? std::move(outcome) : inField(std::move(outcome).error(), field);
}

/// The rules under construction.
class Resolver
{
public:
    Resolver(const Policy &policy, const OpLists &lists, std::vector<Warning> &warnings)
        : m_policy(policy)
        , m_dialect(*lists.dialect)
        , m_lists(lists)
        , m_warnings(warnings)
    {
        m_rules.target = policy.target;
    }

    Result<Rules> resolve();

private:
    void warn(std::string entry, std::string text)
    {
        m_warnings.push_back({std::move(entry), std::move(text)});
    }

    void placeBuiltIn(List list);
    void placeBuiltInConditions();
    Result<void> placeGiven(List list, const std::vector<std::string> &names);
    Result<void> placePasted();
    Result<void> placeConditions(const std::vector<ConditionalRule> &rules, const Source &source);
    Result<void> place(const Named &named, List list, const Source &source, const std::string &where);
    Result<void> placeInt8(const std::vector<std::string> &names);
    Result<void> move(const Policy::Move &move);
    Result<Named> named(std::string_view entry, List list, const std::string &where);
    Result<void> checkOverrides() const;

    /// An alias in a given list that the built-in list of that key has too.
    struct Pasted
    {
        List list = List::Neutral;
        std::size_t index = 0;
        std::string_view entry;
        const OpInfo *info = nullptr;
    };

    const Policy &m_policy;
    const dialect::Dialect &m_dialect;
    const OpLists &m_lists;
    std::vector<Warning> &m_warnings;
    std::vector<Pasted> m_pasted;
    Rules m_rules;
};

/// Aliases place nothing here, see resolve() in the header.
void Resolver::placeBuiltIn(List list)
{
    for (const std::string &op : m_lists.names(list)) {
        const OpInfo *const info = m_dialect.findOp(op);
        if (!info || info->name == op)
            m_rules.places.try_emplace(op, Rules::Place{list, op, Origin::BuiltIn, m_lists.label});
    }
}

void Resolver::placeBuiltInConditions()
{
    for (const ConditionalRule &rule : m_lists.conditional) {
        m_rules.places.try_emplace(rule.op,
                                   Rules::Place{List::Conditional, rule.op, Origin::BuiltIn, m_lists.label});
        m_rules.conditions[rule.op].push_back(rule);
    }
}

Result<Named> Resolver::named(std::string_view entry, List list, const std::string &where)
{
    const OpInfo *const info = m_dialect.findOp(entry);
    if (info && info->name == entry)
        return Named{info->name, info->name, info};
    if (info) {
        warn(entryText(nameOf(list), entry), "is an alias of " + info->name);
        return Named{info->name, std::string(entry) + " (alias of " + info->name + ")", info};
    }
    if (!m_lists.holds(list, entry)) {
        const OpLists *const lists = anyListsWith(m_dialect, entry);
        if (!lists && isOfOtherDomain(m_dialect, entry))
            return Named{std::string(entry), std::string(entry), nullptr};
        if (!lists)
            return unknownOperator(m_dialect, where, entry);
        warn(entryText(nameOf(list), entry),
             "is not an operator of " + std::string(m_dialect.version()) + ", only the lists of "
                 + lists->source + " name it");
    }
    return Named{std::string(entry), std::string(entry), nullptr};
}

/// What an operator needs to stand in a list that a person chose (M-inputs-needed, D-noinput-target).
Result<void> checkInputs(const Named &named, List list, const std::string &where)
{
    if (!named.info || (list != List::Target && list != List::Widest))
        return {};
    if (!named.info->mayHaveInputs())
        return badInput(where, inQuotes(named.entry) + " has no inputs to cast", "an operator with inputs");
    if (list == List::Widest && named.info->hasMutableInputs())
        return badInput(
            where, inQuotes(named.entry) + " writes to its inputs, so they cannot be cast to the widest type",
            "an operator that only reads its inputs");
    return {};
}

Result<void> Resolver::place(const Named &named, List list, const Source &source, const std::string &where)
{
    HALFTONE_CHECK(checkInputs(named, list, where));
    const auto [at, fresh]
        = m_rules.places.try_emplace(named.op, Rules::Place{list, named.entry, source.origin, source.name});
    Rules::Place &stands = at->second;
    if (fresh || stands.list == list)
        return {};
    const bool builtIn = stands.origin == Origin::BuiltIn;
    const bool widest = stands.list == List::Widest || list == List::Widest;
    if (stands.list != List::Neutral && !(widest && builtIn))
        return badInput(where, inQuotes(named.entry) + " is also in " + describe(stands),
                        "each operator in only one list");
    if (stands.list == List::Conditional) {
        m_rules.conditions.erase(named.op);
        warn(entryText(nameOf(list), named.entry),
             "removes the operator from the built-in conditional_fp32_ops");
    } else if (stands.list == List::Widest && list == List::Conditional) {
        warn(entryText(nameOf(list), named.entry),
             "removes the operator from the built-in widest_dtype_ops: it is neutral where no condition "
             "holds");
    }
    stands = {list, named.entry, source.origin, source.name};
    return {};
}

Result<void> Resolver::placeGiven(List list, const std::vector<std::string> &names)
{
    std::unordered_set<std::string_view> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string &entry = names[i];
        if (!seen.insert(entry).second)
            continue;
        const OpInfo *const info = m_dialect.findOp(entry);
        if (info && info->name != entry && m_lists.holds(list, entry)) {
            m_pasted.push_back({list, i, entry, info});
            continue;
        }
        const std::string where = indexed(nameOf(list), i);
        HALFTONE_TRY(const Named op, named(entry, list, where));
        HALFTONE_CHECK(place(op, list, kGiven, where));
    }
    return {};
}

/// Once everything else has its place: an operator's own name says more than an alias from a pasted list.
Result<void> Resolver::placePasted()
{
    for (const Pasted &one : m_pasted) {
        if (m_rules.places.contains(one.info->name))
            continue;
        const std::string where = indexed(nameOf(one.list), one.index);
        HALFTONE_TRY(const Named op, named(one.entry, one.list, where));
        HALFTONE_CHECK(place(op, one.list, kGiven, where));
    }
    return {};
}

Result<void> Resolver::placeConditions(const std::vector<ConditionalRule> &rules, const Source &source)
{
    for (std::size_t i = 0; i < rules.size(); ++i) {
        ConditionalRule rule = rules[i];
        const std::string where
            = source.origin == Origin::Given ? indexed(nameOf(List::Conditional), i) : rule.op;
        HALFTONE_TRY(const Named op, named(rule.op, List::Conditional, where));
        if (op.info)
            HALFTONE_CHECK(checkCondition(m_dialect, *op.info, rule, where, m_warnings));
        HALFTONE_CHECK(place(op, List::Conditional, source, where));
        rule.op = op.op;
        m_rules.conditions[op.op].push_back(std::move(rule));
    }
    return {};
}

Result<void> Resolver::placeInt8(const std::vector<std::string> &names)
{
    for (std::size_t i = 0; i < names.size(); ++i) {
        HALFTONE_TRY(const Named op, named(names[i], List::Int8, indexed(nameOf(List::Int8), i)));
        if (hasInt8Form(m_dialect, op.op))
            m_rules.int8.try_emplace(op.op, Rules::Place{List::Int8, op.entry, kGiven.origin, kGiven.name});
        else
            warn(entryText(nameOf(List::Int8), names[i]), "has no int8 form; the other lists apply");
    }
    return {};
}

Result<void> Resolver::move(const Policy::Move &move)
{
    const List list = listOf(move.to);
    HALFTONE_TRY(const Named op, named(move.op, list, move.op));
    HALFTONE_CHECK(checkInputs(op, list, move.op));
    if (m_rules.conditions.erase(op.op) > 0)
        warn(entryText("moves", move.op), "removes the operator's rules from conditional_fp32_ops");
    m_rules.places.insert_or_assign(op.op, Rules::Place{list, op.entry, kMoved.origin, kMoved.name});
    return {};
}

Result<void> Resolver::checkOverrides() const
{
    for (const auto &[name, type] : m_policy.nodeOverrides) {
        if (type != tensor::DType::F32 && type != tensor::DType::I8 && type != askedTarget(m_policy)
            && type != m_policy.target)
            return badInput("node_overrides[" + inQuotes(name) + ']', std::string(nameOf(type)),
                            "float32, int8 or " + std::string(nameOf(askedTarget(m_policy))));
    }
    return {};
}

Result<Rules> Resolver::resolve()
{
    struct Choice
    {
        List list;
        const std::optional<std::vector<std::string>> &given;
    };
    const Choice choices[] = {{List::Target, m_policy.targetOps},
                              {List::Fp32, m_policy.fp32Ops},
                              {List::Widest, m_policy.widestOps}};

    HALFTONE_CHECK(checkOverrides());
    // All built-in lists first: a contradiction is then found at an entry that the person wrote.
    for (const Choice &choice : choices) {
        if (!choice.given)
            placeBuiltIn(choice.list);
    }
    if (!m_policy.conditionalOps)
        placeBuiltInConditions();
    placeBuiltIn(List::Neutral);

    for (const Choice &choice : choices) {
        if (choice.given)
            HALFTONE_CHECK(placeGiven(choice.list, *choice.given));
    }
    if (m_policy.conditionalOps)
        HALFTONE_CHECK(placeConditions(*m_policy.conditionalOps, kGiven));
    HALFTONE_CHECK(placePasted());
    HALFTONE_CHECK(of(Field::Conditional, placeConditions(m_policy.addedConditions, kAdded)));
    for (const Policy::Move &one : m_policy.moves)
        HALFTONE_CHECK(of(fieldOf(one.to), move(one)));
    if (m_policy.int8Ops)
        HALFTONE_CHECK(placeInt8(*m_policy.int8Ops));
    return std::move(m_rules);
}

} // namespace

Result<Rules> resolve(const Policy &policy, const dialect::Dialect &dialect, std::vector<Warning> &warnings)
{
    HALFTONE_TRY(const OpLists *const lists, builtInLists(dialect, policy.target, policy.listVersion));
    return Resolver(policy, *lists, warnings).resolve();
}

} // namespace halftone::policy
