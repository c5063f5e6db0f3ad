#include "core/policy/assignment.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/policy/wording.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace halftone::policy {
namespace {

/// What holds for all nodes of one operator, but for those whose attributes meet one of its conditions.
struct OpDecision
{
    Decision decision;
    const std::vector<ConditionalRule> *conditions = nullptr;
    const dialect::OpInfo *info = nullptr; ///< looked up only for conditions
    std::uint32_t firstCondition = 0; ///< entry of the first condition, the others follow
};

Rule ruleOf(List list)
{
    switch (list) {
    case List::Target:
        return Rule::TargetList;
    case List::Fp32:
        return Rule::Fp32List;
    case List::Widest:
        return Rule::WidestList;
    case List::Conditional:
        return Rule::ConditionUnmet;
    case List::Int8:
        return Rule::Int8List;
    case List::Neutral:
        break;
    }
    return Rule::NeutralList;
}

bool holds(const dialect::Dialect &dialect, const ConditionalRule &rule, const dialect::OpInfo *info,
           const graph::Attributes &attributes)
{
    const dialect::AttributeSpec *const spec = info ? info->attribute(rule.attribute) : nullptr;
    if (!spec) {
        const std::string *const written = attributes.find(rule.attribute);
        return written && std::ranges::find(rule.values, *written) != rule.values.end();
    }
    const std::string_view value = info->valueOf(attributes, rule.attribute);
    return std::ranges::any_of(rule.values,
                               [&](const std::string &one) { return dialect.sameValue(*spec, value, one); });
}

std::uint32_t addEntry(std::vector<std::string> &entries, std::string text)
{
    entries.push_back(std::move(text));
    return static_cast<std::uint32_t>(entries.size() - 1);
}

OpDecision decideOp(const dialect::Dialect &dialect, const std::string &op, const Rules &rules,
                    std::vector<std::string> &entries)
{
    OpDecision made;
    const auto place = rules.places.find(op);
    if (place == rules.places.end()
        || (rules.bodiesDecide && dialect.isJudgedByBody(op) && place->second.origin == Origin::BuiltIn))
        return made;
    const auto &[list, entry, origin, source] = place->second;
    const std::string by = " (" + std::string(source) + ')';
    made.decision = {ruleOf(list), addEntry(entries, entryText(nameOf(list), entry) + by), origin};
    if (list != List::Conditional)
        return made;
    entries.back() += ", no condition holds";
    made.conditions = &rules.conditions.at(op);
    made.info = dialect.findOp(op);
    made.firstCondition = static_cast<std::uint32_t>(entries.size());
    for (const ConditionalRule &rule : *made.conditions)
        entries.push_back(entryText(nameOf(list), entry) + ' ' + rule.attribute + '=' + joined(rule.values)
                          + by);
    return made;
}

Decision decideNode(const dialect::Dialect &dialect, const OpDecision &op,
                    const graph::Attributes &attributes)
{
    for (std::uint32_t i = 0; i < op.conditions->size(); ++i) {
        if (holds(dialect, (*op.conditions)[i], op.info, attributes))
            return {Rule::Conditional, op.firstCondition + i};
    }
    return op.decision;
}

/// Which of a fused operator's parts decides: the higher one.
int precedence(Rule rule)
{
    switch (requestOf(rule)) {
    case Request::Fp32:
        return 4;
    case Request::Target:
        return 3;
    case Request::Widest:
        return 2;
    default:
        return rule == Rule::Unlisted ? 0 : 1;
    }
}

/// Decides node by node, looking at each operator name once.
class Decider
{
public:
    Decider(const dialect::Dialect &dialect, const Rules &rules, std::vector<std::string> &entries)
        : m_dialect(dialect)
        , m_rules(rules)
        , m_entries(entries)
    {
    }

    const OpDecision &decide(const std::string &op)
    {
        const auto [at, fresh] = m_ops.try_emplace(op);
        if (fresh)
            at->second = decideOp(m_dialect, op, m_rules, m_entries);
        return at->second;
    }

    Decision decide(const OpDecision &op, const graph::NodeDef &node)
    {
        if (op.conditions)
            return decideNode(m_dialect, op, node.attributes);
        if (op.decision.rule != Rule::Unlisted || node.subgraphs.empty() || !isFused(node))
            return op.decision;
        const Part part = strongest(*node.subgraphs[0], 1);
        if (part.node == nullptr)
            return op.decision;
        return {part.decision.rule, entryOf(part), part.decision.origin};
    }

private:
    /// A node of a body, and what holds for it.
    struct Part
    {
        const graph::NodeDef *node = nullptr;
        Decision decision;
    };

    /// The first of those parts that no other one outdoes; none when no list names any. Fused operators in fused ones are
    /// followed as deep as their types are.
    Part strongest(const graph::Graph &body, int depth)
    {
        constexpr int kMaxDepth = 4;
        Part best;
        for (graph::NodeId id = 0; id < body.nodeCount(); ++id) {
            if (body.isVariable(id))
                continue;
            const graph::NodeDef &node = body.node(id);
            const OpDecision &op = decide(node.op);
            Part part{&node, op.conditions ? decideNode(m_dialect, op, node.attributes) : op.decision};
            if (part.decision.rule == Rule::Unlisted && depth < kMaxDepth && isFused(node))
                part = strongest(*node.subgraphs[0], depth + 1);
            if (part.node && precedence(part.decision.rule) > precedence(best.decision.rule))
                best = part;
        }
        return best;
    }

    std::uint32_t entryOf(const Part &part)
    {
        std::string text = m_entries[part.decision.entry] + ", for " + part.node->name + " in its body";
        const auto [at, fresh] = m_fused.try_emplace(std::move(text));
        if (fresh)
            at->second = addEntry(m_entries, at->first);
        return at->second;
    }

    bool isFused(const graph::NodeDef &node) const
    {
        return node.subgraphs.size() == 1 && m_dialect.role(node) == dialect::NodeRole::Fused;
    }

    const dialect::Dialect &m_dialect;
    const Rules &m_rules;
    std::vector<std::string> &m_entries;
    std::unordered_map<std::string, OpDecision> m_ops;
    std::unordered_map<std::string, std::uint32_t> m_fused; ///< entries by their texts
};

void decideNamed(const graph::Graph &graph, const NamedNodes &named, Assignment &made)
{
    std::unordered_map<std::string_view, std::uint32_t> entries;
    for (const auto &[node, text] : named.excluded) {
        const auto [at, fresh] = entries.try_emplace(text);
        if (fresh)
            at->second = addEntry(made.entries, entryText("excluded_sym_names", text));
        made.nodes[node] = {Rule::ExcludedName, at->second};
        made.otherwise.erase(node);
    }
    std::unordered_map<std::string_view, std::uint32_t> overriding;
    for (const auto &[node, type] : named.overrides) {
        const Rule rule = type == tensor::DType::F32 ? Rule::OverrideFp32
            : type == tensor::DType::I8              ? Rule::OverrideInt8
                                                     : Rule::OverrideTarget;
        const auto pattern = named.overridingPatterns.find(node);
        const std::string &written
            = pattern == named.overridingPatterns.end() ? graph.node(node).name : pattern->second;
        // An exclusion holds where int8 cannot be.
        if (rule == Rule::OverrideInt8)
            made.otherwise.try_emplace(node, made.nodes[node]);
        else
            made.otherwise.erase(node);
        const auto [at, fresh] = overriding.try_emplace(written);
        if (fresh)
            at->second = addEntry(made.entries,
                                  entryText("node_overrides", written) + " = " + std::string(nameOf(type)));
        made.nodes[node] = {rule, at->second};
    }
}

/// Over all that the other lists say, before names.
void decideInt8(const graph::Graph &graph, const Rules &rules, Assignment &made)
{
    if (rules.int8.empty())
        return;
    std::vector<std::optional<Decision>> ops; // by OpIndex
    for (graph::OpIndex index = 0; index < graph.operatorNames().size(); ++index) {
        const auto place = rules.int8.find(graph.operatorNames()[index]);
        if (place == rules.int8.end() || graph.isVariableOp(index)) {
            ops.emplace_back();
            continue;
        }
        const auto &[list, entry, origin, source] = place->second;
        ops.emplace_back(Decision{
            Rule::Int8List,
            addEntry(made.entries, entryText(nameOf(list), entry) + " (" + std::string(source) + ')')});
    }
    for (graph::NodeId id = 0; id < made.nodes.size(); ++id) {
        if (const auto &decision = ops[graph.opOf(id)]) {
            made.otherwise.emplace(id, made.nodes[id]);
            made.nodes[id] = *decision;
        }
    }
}

} // namespace

Request requestOf(Rule rule)
{
    switch (rule) {
    case Rule::Variable:
        return Request::Nothing;
    case Rule::OverrideFp32:
    case Rule::ExcludedName:
    case Rule::Fp32List:
    case Rule::Conditional:
    case Rule::Hardware:
    case Rule::StatisticsBeyond:
    case Rule::PositionPath:
    case Rule::TvmNever:
    case Rule::Coded:
        return Request::Fp32;
    case Rule::OverrideTarget:
    case Rule::TargetList:
    case Rule::TvmAlways:
    case Rule::Everything:
        return Request::Target;
    case Rule::WidestList:
        return Request::Widest;
    case Rule::OverrideInt8:
    case Rule::Int8List:
        return Request::Int8;
    case Rule::ConditionUnmet:
    case Rule::NeutralList:
    case Rule::HardwareStorage:
    case Rule::TvmFollow:
    case Rule::Unlisted:
        break;
    }
    return Request::Follow;
}

std::string_view nameOf(Rule rule)
{
    switch (rule) {
    case Rule::Variable:
        return "variable";
    case Rule::OverrideFp32:
    case Rule::OverrideTarget:
    case Rule::OverrideInt8:
        return "override";
    case Rule::ExcludedName:
        return "excluded-name";
    case Rule::Int8List:
        return "int8-list";
    case Rule::Fp32List:
        return "fp32-list";
    case Rule::TargetList:
        return "target-list";
    case Rule::WidestList:
        return "widest-list";
    case Rule::Conditional:
        return "conditional";
    case Rule::ConditionUnmet:
        return "condition-unmet";
    case Rule::NeutralList:
        return "neutral-list";
    case Rule::Hardware:
        return "hardware";
    case Rule::HardwareStorage:
        return "hardware-storage";
    case Rule::StatisticsBeyond:
        return "statistics-beyond";
    case Rule::PositionPath:
        return "position-path";
    case Rule::TvmAlways:
        return "tvm-always";
    case Rule::TvmFollow:
        return "tvm-follow";
    case Rule::TvmNever:
        return "tvm-never";
    case Rule::Everything:
        return "mode-all";
    case Rule::Coded:
        return "coded";
    case Rule::Unlisted:
        break;
    }
    return "unlisted";
}

std::string_view nameOf(Request request)
{
    switch (request) {
    case Request::Fp32:
        return "fp32";
    case Request::Target:
        return "target";
    case Request::Widest:
        return "widest";
    case Request::Follow:
        return "follow";
    case Request::Int8:
        return "int8";
    case Request::Nothing:
        break;
    }
    return {};
}

Assignment assign(const graph::Graph &graph, const Rules &rules, const NamedNodes &named)
{
    Assignment made;
    made.entries.emplace_back();
    Decider decider(dialect::of(graph), rules, made.entries);
    std::vector<const OpDecision *> ops;
    for (graph::OpIndex op = 0; op < graph.operatorNames().size(); ++op)
        ops.push_back(graph.isVariableOp(op) ? nullptr : &decider.decide(graph.operatorNames()[op]));

    made.nodes.resize(graph.nodeCount());
    for (graph::NodeId id = 0; id < made.nodes.size(); ++id)
        made.nodes[id] = graph.isVariable(id) ? Decision{Rule::Variable}
                                              : decider.decide(*ops[graph.opOf(id)], graph.node(id));
    decideInt8(graph, rules, made);
    decideNamed(graph, named, made);
    return made;
}

bool isChosen(const Decision &decision)
{
    switch (decision.rule) {
    case Rule::OverrideFp32:
    case Rule::OverrideTarget:
    case Rule::ExcludedName:
        return true;
    case Rule::Fp32List:
    case Rule::TargetList:
    case Rule::WidestList:
    case Rule::Conditional:
        return decision.origin != Origin::BuiltIn;
    default:
        return false;
    }
}

Assignment withoutInt8(Assignment assignment)
{
    for (const auto &[node, decision] : assignment.otherwise)
        assignment.nodes[node] = decision;
    assignment.otherwise.clear();
    return assignment;
}

} // namespace halftone::policy
