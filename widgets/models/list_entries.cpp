#include "widgets/models/list_entries.h"

#include "core/base/text.h"
#include "core/dialect/calls.h"
#include "core/dialect/dialect.h"
#include "core/policy/wording.h"
#include "widgets/common/constant_nodes.h"
#include "widgets/common/formatters.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace halftone::widgets {
namespace {

using policy::List;
using policy::Rule;

constexpr std::array kPolicyLists{List::Target, List::Fp32, List::Widest, List::Conditional, List::Neutral};

bool isDecidedByList(Rule rule)
{
    return rule == Rule::Fp32List || rule == Rule::TargetList || rule == Rule::WidestList
        || rule == Rule::Int8List || rule == Rule::Conditional || rule == Rule::ConditionUnmet
        || rule == Rule::NeutralList || rule == Rule::Unlisted;
}

/// The list that a mode with rules of its own treats an operator by.
std::optional<List> listOfMode(Rule rule)
{
    switch (rule) {
    case Rule::TvmAlways:
    case Rule::Everything:
        return List::Target;
    case Rule::TvmNever:
        return List::Fp32;
    case Rule::TvmFollow:
        return List::Neutral;
    default:
        return std::nullopt;
    }
}

bool hasOwnRules(policy::Mode mode)
{
    return mode == policy::Mode::Tvm || mode == policy::Mode::All;
}

bool isPattern(const std::string &name)
{
    return name.size() > 2 && name.front() == '/' && name.back() == '/';
}

/// Counts of one operator's nodes.
struct OpUse
{
    std::size_t nodes = 0; ///< bodies included
    std::size_t inBodies = 0;
    std::size_t decided = 0; ///< by the operator's list, or the mode's rules, in the graph itself
    std::size_t constants = 0; ///< of these, those that compute nothing
    std::size_t takenAway = 0; ///< by the chip
    std::optional<List> byMode; ///< where the mode's rules put it in place of the built-in lists
};

class EntryMaker
{
public:
    EntryMaker(const session::Snapshot &snapshot, const ListFilter &filter)
        : m_snapshot(snapshot)
        , m_filter(filter)
        , m_graph(snapshot.graph())
    {
    }

    ListEntries make()
    {
        countOperators();
        addOperators();
        addOverrides();
        addExclusions();
        for (const ListId list : kAllLists) {
            if (m_filter.text.isEmpty())
                groupNodes(list);
            std::ranges::sort(m_entries[static_cast<std::size_t>(list)], isBefore);
        }
        return std::move(m_entries);
    }

private:
    const policy::Rules &rules() const { return *m_snapshot.rules; }
    static void count(Rule rule, OpUse &use);
    void countOperators();
    void countBodies(const graph::Graph &graph);
    void addOperators();
    void addOperator(const std::string &op);
    void addByMode(const std::string &op, List list, const OpUse &use);
    void addConditions(const std::string &op, const policy::Rules::Place &place, const OpUse &use);
    void addOverrides();
    ListEntry overriding(const std::string &name, tensor::DType type, const std::vector<graph::NodeId> &nodes,
                         bool isExcluded) const;
    void addExclusions();
    using NodesOfNames = std::unordered_map<std::string, std::vector<graph::NodeId>>;
    NodesOfNames overriddenNodes() const;
    NodesOfNames excludedNodes() const;
    QString whyIdle(const std::string &name, const std::vector<graph::NodeId> &nodes) const;
    std::string operatorOf(const std::vector<graph::NodeId> &nodes) const
    {
        return nodes.empty() || m_graph.isVariable(nodes.front()) ? std::string()
                                                                  : m_graph.node(nodes.front()).op;
    }
    void add(ListId list, ListEntry entry);
    void groupNodes(ListId list);
    /// Where an override to a type is shown.
    ListId listOfType(tensor::DType type) const
    {
        return type == tensor::DType::I8                      ? ListId::Int8
            : m_snapshot.asAsked(type) == m_snapshot.target() ? ListId::Target
                                                              : ListId::Fp32;
    }
    /// The built-in list that holds the operator; nothing where none does.
    std::optional<List> builtInList(const std::string &op) const;
    std::string conditionEntry(const policy::Rules::Place &place, const policy::ConditionalRule &rule) const;

    const session::Snapshot &m_snapshot;
    const ListFilter &m_filter;
    const graph::Graph &m_graph;
    std::unordered_map<std::string, OpUse> m_uses;
    std::unordered_map<std::string, std::size_t> m_decidedByEntry; ///< by Assignment's entry text
    std::unordered_set<std::string> m_namesInBodies;
    ListEntries m_entries;
};

void EntryMaker::countBodies(const graph::Graph &graph)
{
    std::vector<const graph::Graph *> open{&graph};
    while (!open.empty()) {
        const graph::Graph &one = *open.back();
        open.pop_back();
        for (graph::NodeId id = 0; id < one.nodeCount(); ++id) {
            for (const auto &body : one.node(id).subgraphs)
                if (!dialect::isCall(one, id)) // one operator, whatever says what it computes
                    open.push_back(body.get());
            if (&one == &graph)
                continue;
            m_namesInBodies.insert(one.node(id).name);
            if (!one.isVariable(id)) {
                OpUse &use = m_uses[one.node(id).op];
                ++use.nodes;
                ++use.inBodies;
            }
        }
    }
}

void EntryMaker::count(Rule rule, OpUse &use)
{
    const std::optional<List> byMode = listOfMode(rule);
    use.decided += isDecidedByList(rule) || byMode ? 1 : 0;
    use.takenAway += rule == Rule::Hardware || rule == Rule::HardwareStorage ? 1 : 0;
    use.byMode = byMode ? byMode : use.byMode;
}

void EntryMaker::countOperators()
{
    std::vector<OpUse> byOp(m_graph.operatorNames().size());
    const policy::Assignment *const assignment
        = m_snapshot.converted ? &m_snapshot.converted->assignment : nullptr;
    std::vector<std::size_t> byEntry(assignment ? assignment->entries.size() : 0);
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (m_graph.isVariable(id))
            continue;
        OpUse &use = byOp[m_graph.opOf(id)];
        ++use.nodes;
        use.constants += isConstantNode(m_graph, id) ? 1 : 0;
        if (!assignment)
            continue;
        count(assignment->rule(id), use);
        ++byEntry[assignment->nodes[id].entry];
    }
    for (std::size_t k = 0; k < byOp.size(); ++k) {
        if (byOp[k].nodes > 0)
            m_uses.emplace(m_graph.operatorNames()[k], byOp[k]);
    }
    for (std::size_t k = 0; assignment && k < byEntry.size(); ++k)
        m_decidedByEntry[assignment->entries[k]] += byEntry[k];
    countBodies(m_graph);
}

std::optional<List> EntryMaker::builtInList(const std::string &op) const
{
    for (const List list : kPolicyLists) {
        if (m_snapshot.builtIn && m_snapshot.builtIn->holds(list, op))
            return list;
    }
    return std::nullopt;
}

void EntryMaker::add(ListId list, ListEntry entry)
{
    if (!m_filter.text.isEmpty() && !entry.text().contains(m_filter.text, Qt::CaseInsensitive))
        return;
    m_entries[static_cast<std::size_t>(list)].push_back(std::move(entry));
}

/// One row for many nodes of one operator that are alike in what they do.
void EntryMaker::groupNodes(ListId list)
{
    std::vector<ListEntry> &entries = m_entries[static_cast<std::size_t>(list)];
    std::map<std::pair<std::string, QString>, std::vector<std::size_t>> alike;
    for (std::size_t k = 0; k < entries.size(); ++k) {
        const ListEntry &entry = entries[k];
        if (entry.kind == ListEntry::Kind::Node && !entry.op.empty()
            && !m_filter.opened.contains({list, entry.op}))
            alike[{entry.op, entry.idle}].push_back(k);
    }
    std::vector<char> isGone(entries.size(), 0);
    std::vector<ListEntry> groups;
    for (const auto &[what, rows] : alike) {
        if (rows.size() <= kMostAlike)
            continue;
        ListEntry group = entries[rows.front()];
        group.kind = ListEntry::Kind::Nodes;
        group.name = what.first;
        group.nodes = 0;
        for (const std::size_t row : rows) {
            group.members.push_back(entries[row].name);
            group.nodes += entries[row].nodes;
            isGone[row] = 1;
        }
        std::ranges::sort(group.members);
        groups.push_back(std::move(group));
    }
    std::size_t row = 0;
    std::erase_if(entries, [&](const ListEntry &) { return isGone[row++] != 0; });
    std::ranges::move(groups, std::back_inserter(entries));
}

void EntryMaker::addOperators()
{
    std::unordered_set<std::string> shown;
    const auto show = [&](const std::string &op) {
        if (shown.insert(op).second)
            addOperator(op);
    };
    for (const auto &[op, use] : m_uses)
        show(op);
    for (const auto &[op, place] : rules().places) {
        const bool isBuiltInShown
            = m_filter.everyOperator && !hasOwnRules(m_snapshot.policy->mode.value_or(policy::Mode::Typed));
        if (isBuiltInShown || place.origin != policy::Origin::BuiltIn)
            show(op);
    }
    for (const auto &[op, place] : rules().int8)
        show(op);
    if (m_filter.everyOperator) {
        for (const dialect::OpInfo *const op : dialect::of(m_snapshot.graph()).operators())
            show(op->name);
    }
}

/// The built-in lists mean nothing then, the operator's class does.
void EntryMaker::addByMode(const std::string &op, List list, const OpUse &use)
{
    ListEntry entry;
    entry.name = op;
    entry.origin = QStringLiteral("by the rules of mode %1")
                       .arg(plain(std::string(policy::nameOf(*m_snapshot.policy->mode))));
    entry.nodes = use.decided + use.inBodies;
    entry.inModel = true;
    add(listIdOf(list), std::move(entry));
}

void EntryMaker::addOperator(const std::string &op)
{
    const auto at = rules().places.find(op);
    const bool isListed = at != rules().places.end();
    const bool isInt8 = rules().int8.contains(op);
    const List list = isInt8 ? List::Int8 : isListed ? at->second.list : List::Neutral;
    const auto counted = m_uses.find(op);
    const OpUse use = counted == m_uses.end() ? OpUse() : counted->second;
    const bool isHidden
        = use.nodes > 0 && use.constants == use.nodes && !m_filter.constants && !m_filter.everyOperator;
    const std::optional<List> home = builtInList(op);
    if (isHidden && !isInt8 && (use.byMode || home.value_or(List::Neutral) == list))
        return;
    if (use.byMode && !isInt8) {
        addByMode(op, *use.byMode, use);
        return;
    }
    if (list == List::Conditional && isListed && rules().conditions.contains(op)) {
        addConditions(op, at->second, use);
        return;
    }
    ListEntry entry;
    entry.name = op;
    entry.isOwn = home.value_or(List::Neutral) != list;
    // An operator of a replaced list that the model lacks and that stands where it always stood is not worth a line.
    if (!entry.isOwn && use.nodes == 0 && !m_filter.everyOperator)
        return;
    if (isInt8)
        entry.origin = QStringLiteral("own; where int8 is not possible: %1")
                           .arg(titleOf(listBelowInt8(rules(), op), m_snapshot.target()));
    else if (entry.isOwn)
        entry.origin
            = QStringLiteral("own; built-in: %1")
                  .arg(home ? titleOf(listIdOf(*home), m_snapshot.target()) : QStringLiteral("in no list"));
    else
        entry.origin = home ? plain(m_snapshot.builtIn->label) : QStringLiteral("in no list");
    entry.nodes = use.decided + use.inBodies;
    entry.inModel = use.nodes > 0;
    if (use.nodes == 0)
        entry.idle = QStringLiteral("no %1 in this model").arg(plain(op));
    else if (entry.nodes == 0 && use.takenAway > 0)
        entry.idle = QStringLiteral("the chip gains nothing from %1 in the target type").arg(plain(op));
    else if (entry.nodes == 0 && m_snapshot.converted)
        entry.idle = QStringLiteral("every %1 node is set individually").arg(plain(op));
    add(listIdOf(list), std::move(entry));
}

std::string EntryMaker::conditionEntry(const policy::Rules::Place &place,
                                       const policy::ConditionalRule &rule) const
{
    return policy::entryText(policy::nameOf(List::Conditional), place.entry) + ' ' + rule.attribute + '='
        + joined(rule.values) + " (" + std::string(place.source) + ')';
}

void EntryMaker::addConditions(const std::string &op, const policy::Rules::Place &place, const OpUse &use)
{
    const std::vector<policy::ConditionalRule> &conditions = rules().conditions.at(op);
    for (std::size_t k = 0; k < conditions.size(); ++k) {
        ListEntry entry;
        entry.kind = ListEntry::Kind::Condition;
        entry.name = op;
        entry.rule = conditions[k];
        entry.ruleIndex = k;
        const bool isBuiltIn = m_snapshot.builtIn
            && std::ranges::find(m_snapshot.builtIn->conditional, conditions[k])
                != m_snapshot.builtIn->conditional.end();
        entry.isOwn = !isBuiltIn;
        entry.origin = isBuiltIn ? plain(m_snapshot.builtIn->label) : QStringLiteral("own");
        entry.inModel = use.nodes > 0;
        if (const auto counted = m_decidedByEntry.find(conditionEntry(place, conditions[k]));
            counted != m_decidedByEntry.end())
            entry.nodes = counted->second;
        if (use.nodes == 0)
            entry.idle = QStringLiteral("no %1 in this model").arg(plain(op));
        else if (entry.nodes == 0 && use.inBodies == 0)
            entry.idle = QStringLiteral("no %1 of this model has that value").arg(plain(op));
        if (entry.isOwn || entry.inModel || m_filter.everyOperator)
            add(ListId::Conditional, std::move(entry));
    }
}

/// Of an override or exclusion of a node by its name.
QString EntryMaker::whyIdle(const std::string &name, const std::vector<graph::NodeId> &nodes) const
{
    if (nodes.empty())
        return m_namesInBodies.contains(name) ? QString() : QStringLiteral("no node has this name");
    if (std::ranges::all_of(nodes, [this](graph::NodeId id) { return m_graph.isVariable(id); }))
        return QStringLiteral("a variable: only operators have a precision");
    return {};
}

/// Which nodes each name or pattern of an override means.
EntryMaker::NodesOfNames EntryMaker::overriddenNodes() const
{
    const auto &overrides = m_snapshot.policy->nodeOverrides;
    NodesOfNames nodesOf;
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (overrides.contains(m_graph.node(id).name))
            nodesOf[m_graph.node(id).name].push_back(id);
    }
    if (std::ranges::none_of(overrides, [](const auto &one) { return isPattern(one.first); }))
        return nodesOf;
    std::vector<policy::Warning> told;
    if (const auto matched = policy::matchNames(*m_snapshot.policy, m_graph, told); matched.ok()) {
        for (const auto &[id, pattern] : matched.value().overridingPatterns)
            nodesOf[pattern].push_back(id);
    }
    return nodesOf;
}

ListEntry EntryMaker::overriding(const std::string &name, tensor::DType type,
                                 const std::vector<graph::NodeId> &nodes, bool isExcluded) const
{
    const auto isNamed
        = [&](graph::NodeId id) { return m_graph.node(id).name == name; }; // a name may look like a pattern
    const bool isByPattern = isPattern(name) && std::ranges::none_of(nodes, isNamed);
    ListEntry entry;
    entry.kind = isByPattern ? ListEntry::Kind::Pattern : ListEntry::Kind::Node;
    entry.name = name;
    entry.op = isByPattern ? std::string() : operatorOf(nodes);
    entry.isOwn = true;
    entry.origin = QStringLiteral("own");
    entry.inModel = !nodes.empty();
    entry.idle = isByPattern && nodes.empty() ? QStringLiteral("matches no other operator's name")
                                              : whyIdle(name, nodes);
    entry.nodes = entry.idle.isEmpty() ? nodes.size() : 0;
    const auto isThereAnyway = [&](graph::NodeId id) {
        return !m_graph.isVariable(id) && listOf(rules(), m_graph.node(id).op) == listOfType(type);
    };
    if (entry.idle.isEmpty() && !nodes.empty() && !isExcluded && std::ranges::all_of(nodes, isThereAnyway))
        entry.idle = isByPattern ? QStringLiteral("its operators already are in that list")
                                 : QStringLiteral("its operator already is in that list");
    return entry;
}

void EntryMaker::addOverrides()
{
    const auto &overrides = m_snapshot.policy->nodeOverrides;
    if (overrides.empty())
        return;
    const std::vector<std::string> &names = m_snapshot.policy->excludedNames;
    const std::unordered_set<std::string_view> excluded(names.begin(), names.end());
    NodesOfNames nodesOf = overriddenNodes();
    for (const auto &[name, type] : overrides)
        add(listOfType(type), overriding(name, type, nodesOf[name], excluded.contains(name)));
}

/// Which nodes each excluded name or pattern means. The conversion has looked that up already; again it is only looked up
/// for names that decide nothing there.
EntryMaker::NodesOfNames EntryMaker::excludedNodes() const
{
    const std::vector<std::string> &names = m_snapshot.policy->excludedNames;
    NodesOfNames nodesOf;
    if (m_snapshot.converted) {
        const policy::Assignment &assignment = m_snapshot.converted->assignment;
        std::unordered_map<std::string_view, std::vector<graph::NodeId>> byEntry;
        for (graph::NodeId id = 0; id < assignment.nodes.size(); ++id) {
            if (assignment.rule(id) == Rule::ExcludedName)
                byEntry[assignment.entry(id)].push_back(id);
        }
        for (const std::string &name : names) {
            const auto found = byEntry.find(policy::entryText("excluded_sym_names", name));
            if (found != byEntry.end())
                nodesOf.emplace(name, found->second);
        }
    }
    const auto isKnown = [&](const std::string &name) { return nodesOf.contains(name); };
    if (std::ranges::all_of(names, isKnown))
        return nodesOf;
    nodesOf.clear();
    for (const std::string &name : names)
        nodesOf[name];
    std::vector<policy::Warning> told;
    if (const auto matched = policy::matchNames(*m_snapshot.policy, m_graph, told); matched.ok()) {
        for (const auto &[id, entry] : matched.value().excluded)
            nodesOf[entry].push_back(id);
    }
    return nodesOf;
}

void EntryMaker::addExclusions()
{
    const std::vector<std::string> &names = m_snapshot.policy->excludedNames;
    if (names.empty())
        return;
    const NodesOfNames nodesOf = excludedNodes();
    std::unordered_set<graph::NodeId> overridden;
    for (const auto &[name, nodes] : overriddenNodes())
        overridden.insert(nodes.begin(), nodes.end());
    for (const std::string &name : names) {
        const std::vector<graph::NodeId> &nodes = nodesOf.at(name);
        ListEntry entry;
        entry.kind = isPattern(name) ? ListEntry::Kind::Pattern : ListEntry::Kind::Node;
        entry.name = name;
        entry.op = isPattern(name) ? std::string() : operatorOf(nodes);
        entry.isOwn = true;
        entry.origin = QStringLiteral("own");
        entry.inModel = !nodes.empty();
        entry.idle = isPattern(name) && nodes.empty() ? QStringLiteral("matches no other operator's name")
                                                      : whyIdle(name, nodes);
        entry.nodes = entry.idle.isEmpty() ? nodes.size() : 0;
        const auto isFp32Anyway = [this](graph::NodeId id) {
            return m_graph.isVariable(id) || listOf(rules(), m_graph.node(id).op) == ListId::Fp32;
        };
        const auto isOverridden = [&overridden](graph::NodeId id) { return overridden.contains(id); };
        if (entry.idle.isEmpty() && !nodes.empty()) {
            if (std::ranges::all_of(nodes, isFp32Anyway))
                entry.idle = QStringLiteral("already in fp32 by the operator's list");
            else if (std::ranges::all_of(nodes, isOverridden))
                entry.idle = QStringLiteral("overridden by the node's own setting");
        }
        add(ListId::Excluded, std::move(entry));
    }
}

} // namespace

ListEntries listEntries(const session::Snapshot &snapshot, const ListFilter &filter)
{
    return EntryMaker(snapshot, filter).make();
}

} // namespace halftone::widgets
