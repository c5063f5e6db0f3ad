#include "widgets/models/list_moves.h"

#include "core/dialect/dialect.h"
#include "core/policy/int8_forms.h"
#include "core/policy/pattern.h"
#include "widgets/common/formatters.h"
#include "widgets/models/list_edits.h"
#include "widgets/models/name_pattern.h"

#include <algorithm>
#include <span>
#include <unordered_set>

namespace halftone::widgets {
namespace {

/// What nodes are held to. Needs: the target, float32's or int8's list.
tensor::DType heldType(const session::Snapshot &snapshot, ListId list)
{
    return list == ListId::Fp32 ? tensor::DType::F32
        : list == ListId::Int8  ? tensor::DType::I8
                                : snapshot.policy->target;
}

std::size_t nodesOf(const graph::Graph &graph, const std::vector<std::string> &ops)
{
    const std::unordered_set<std::string_view> wanted(ops.begin(), ops.end());
    std::size_t count = 0;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        count += !graph.isVariable(id) && wanted.contains(graph.node(id).op) ? 1U : 0U;
    return count;
}

class Mover
{
public:
    Mover(const session::Snapshot &snapshot, const ListPayload &payload, ListId to)
        : m_snapshot(snapshot)
        , m_graph(snapshot.graph())
        , m_payload(payload)
        , m_to(to)
        , m_title(titleOf(to, snapshot.target()))
    {
        findNodes();
    }

    ListMove move()
    {
        if (m_payload.isEmpty() || (m_payload.ops.empty() && m_nodes.empty()))
            return refused(QStringLiteral("nothing here can be put in a list"));
        if (m_to == ListId::Excluded)
            return exclude();
        if (m_to == ListId::Conditional)
            return makeConditional();
        if (m_nodes.empty())
            return moveOperators();
        return moveNodes();
    }

    const std::vector<graph::NodeId> &nodeIds() const { return m_nodeIds; }

private:
    static ListMove refused(QString why)
    {
        ListMove move;
        move.refusal = std::move(why);
        return move;
    }

    void findNodes();
    /// Operators of the payload and of its nodes.
    std::vector<std::string> allOperators() const;
    ListMove exclude() const;
    ListMove makeConditional() const;
    ListMove moveOperators() const;
    ListMove moveNodes() const;
    MoveChoice operatorChoice(const std::vector<std::string> &ops) const;
    MoveChoice nodeChoice() const;
    void addUnitChoices(std::vector<MoveChoice> &choices) const;
    void addPatternChoice(std::vector<MoveChoice> &choices, const std::vector<std::string> &nodes) const;
    static QString withoutInt8Form(const std::vector<std::string> &ops)
    {
        return QStringLiteral("%1 %2 no int8 form")
            .arg(namedOperators(ops), QLatin1String(ops.size() == 1 ? "has" : "have"));
    }
    /// Entries of the policy that exclude or override some of the nodes to be moved.
    struct NamedAmong
    {
        std::vector<std::string> names; ///< and patterns that name none but these nodes
        std::string wider; ///< a pattern that names others too; empty: there is none

        bool isEmpty() const { return names.empty(); }
    };
    NamedAmong namedAmong(const std::vector<std::string> &entries,
                          const std::vector<std::string> &nodes) const;
    NamedAmong excludedAmong(const std::vector<std::string> &nodes) const
    {
        return namedAmong(m_snapshot.policy->excludedNames, nodes);
    }
    NamedAmong overriddenAmong(const std::vector<std::string> &nodes) const;
    bool areHeldTo(tensor::DType type) const;
    static QString staysBy(const std::string &wider)
    {
        return QStringLiteral("the pattern %1 names other nodes too: edit the pattern").arg(plain(wider));
    }

    const session::Snapshot &m_snapshot;
    const graph::Graph &m_graph;
    const ListPayload &m_payload;
    ListId m_to;
    QString m_title;
    std::vector<std::string> m_nodes; ///< of the payload, those that are operators of the model
    std::vector<graph::NodeId> m_nodeIds; ///< of m_nodes
    std::vector<std::string> m_opsOfNodes; ///< without repetition
};

void Mover::findNodes()
{
    const std::unordered_set<std::string_view> wanted(m_payload.nodes.begin(), m_payload.nodes.end());
    if (wanted.empty())
        return;
    std::unordered_set<std::string_view> seen;
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        const graph::NodeDef &node = m_graph.node(id);
        if (node.isVariable() || !wanted.contains(node.name))
            continue;
        m_nodes.push_back(node.name);
        m_nodeIds.push_back(id);
        if (seen.insert(node.op).second)
            m_opsOfNodes.push_back(node.op);
    }
}

std::vector<std::string> Mover::allOperators() const
{
    std::vector<std::string> ops = m_payload.ops;
    for (const std::string &op : m_opsOfNodes) {
        if (std::ranges::find(ops, op) == ops.end())
            ops.push_back(op);
    }
    return ops;
}

Mover::NamedAmong Mover::namedAmong(const std::vector<std::string> &entries,
                                    const std::vector<std::string> &nodes) const
{
    NamedAmong found;
    const std::unordered_set<std::string_view> moved(nodes.begin(), nodes.end());
    for (const std::string &text : entries) {
        if (moved.contains(text)) {
            found.names.push_back(text);
            continue;
        }
        if (text.size() <= 2 || !text.starts_with('/') || !text.ends_with('/'))
            continue;
        const auto pattern = policy::Pattern::compile(std::string_view(text).substr(1, text.size() - 2));
        if (!pattern.ok())
            continue;
        std::size_t inside = 0;
        std::size_t all = 0;
        for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const std::string &name = m_graph.node(id).name;
            if (m_graph.isVariable(id) || !pattern.value().matches(name))
                continue;
            ++all;
            inside += moved.contains(name) ? 1 : 0;
        }
        if (all > inside && inside > 0)
            found.wider = text;
        else if (inside > 0)
            found.names.push_back(text);
    }
    return found;
}

Mover::NamedAmong Mover::overriddenAmong(const std::vector<std::string> &nodes) const
{
    std::vector<std::string> entries;
    for (const auto &[name, type] : m_snapshot.policy->nodeOverrides)
        entries.push_back(name);
    return namedAmong(entries, nodes);
}

/// Do overrides, by names or patterns, hold all nodes to be moved to the type?
bool Mover::areHeldTo(tensor::DType type) const
{
    std::vector<policy::Warning> told;
    const auto named = policy::matchNames(*m_snapshot.policy, m_graph, told);
    return named.ok() && std::ranges::all_of(m_nodeIds, [&](graph::NodeId id) {
               const auto at = named.value().overrides.find(id);
               return at != named.value().overrides.end() && at->second == type;
           });
}

ListMove Mover::exclude() const
{
    const std::unordered_set<std::string_view> ops(m_payload.ops.begin(), m_payload.ops.end());
    std::vector<std::string> nodes = m_nodes;
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id) {
        if (!m_graph.isVariable(id) && ops.contains(m_graph.node(id).op))
            nodes.push_back(m_graph.node(id).name);
    }
    if (nodes.empty())
        return refused(QStringLiteral("only nodes can be excluded, and this model has no %1")
                           .arg(namedOperators(m_payload.ops)));
    const std::unordered_set<std::string_view> names(m_snapshot.policy->excludedNames.begin(),
                                                     m_snapshot.policy->excludedNames.end());
    const bool areThere
        = std::ranges::all_of(nodes, [&](const std::string &name) { return names.contains(name); });
    const NamedAmong overridden = overriddenAmong(nodes);
    if (!overridden.wider.empty())
        return refused(staysBy(overridden.wider));
    if (areThere && overridden.isEmpty())
        return refused(nodes.size() == 1 ? QStringLiteral("%1 is excluded already").arg(plain(nodes.front()))
                                         : QStringLiteral("these nodes are excluded already"));
    MoveChoice choice;
    choice.label = m_nodes.empty()
        ? QStringLiteral("The %1 of %2")
              .arg(counted(nodes.size(), "node", "nodes"), namedOperators(m_payload.ops))
        : QStringLiteral("These %1").arg(counted(nodes.size(), "node", "nodes"));
    choice.subject = nodes.size() == 1 ? QStringLiteral("Exclude %1").arg(plain(nodes.front()))
                                       : QStringLiteral("Exclude %1 nodes").arg(nodes.size());
    std::vector<policy::Edit> edits;
    if (!overridden.isEmpty())
        edits.emplace_back(policy::OverrideNodes{overridden.names, std::nullopt});
    if (!areThere)
        edits.emplace_back(policy::ExcludeNames{nodes});
    choice.edit = asOne(m_snapshot, std::move(edits), choice.subject);
    ListMove move;
    move.choices.push_back(std::move(choice));
    addPatternChoice(move.choices, nodes);
    return move;
}

ListMove Mover::makeConditional() const
{
    const std::vector<std::string> ops = allOperators();
    if (ops.size() != 1)
        return refused(QStringLiteral("select one operator at a time to add conditions"));
    const dialect::OpInfo *const info = dialect::of(m_snapshot.graph()).findOp(ops.front());
    if (!info || info->attributes.empty())
        return refused(QStringLiteral("%1 has no attributes for a condition").arg(plain(ops.front())));
    ListMove move;
    move.conditionsOf = ops.front();
    return move;
}

MoveChoice Mover::operatorChoice(const std::vector<std::string> &ops) const
{
    MoveChoice choice;
    std::vector<std::string> moving;
    std::ranges::copy_if(ops, std::back_inserter(moving),
                         [this](const std::string &op) { return listOf(*m_snapshot.rules, op) != m_to; });
    if (m_to == ListId::Int8) {
        const std::vector<std::string> all = moving;
        std::erase_if(
            moving, [this](const std::string &op) { return !policy::hasInt8Form(dialect::of(m_graph), op); });
        if (moving.empty() && !all.empty()) {
            choice.label = QStringLiteral("All %1").arg(namedOperators(all));
            choice.why = withoutInt8Form(all);
            return choice;
        }
    }
    if (moving.empty()) {
        choice.label = QStringLiteral("All %1").arg(namedOperators(ops));
        choice.why = QStringLiteral("%1 %2 in %3 already")
                         .arg(namedOperators(ops), QLatin1String(ops.size() == 1 ? "is" : "are"), m_title);
        return choice;
    }
    const std::size_t nodes = nodesOf(m_graph, moving);
    const QString what = moving.size() == 1
        ? QString::number(nodes) + QLatin1Char(' ') + namedOperators(moving)
        : namedOperators(moving) + QStringLiteral(" (%1)").arg(counted(nodes, "node", "nodes"));
    choice.label = QStringLiteral("All %1").arg(what);
    choice.subject = QStringLiteral("%1 to %2").arg(what, m_title);
    const policy::Edit edit = policy::MoveOperators{moving, policyList(m_to)};
    if (const auto possible = policy::applyEdit(*m_snapshot.policy, edit, dialect::of(m_graph));
        !possible.ok())
        choice.why = plain(possible.error().found);
    else
        choice.edit = edit;
    return choice;
}

ListMove Mover::moveOperators() const
{
    MoveChoice choice = operatorChoice(m_payload.ops);
    if (!choice.edit)
        return refused(choice.why);
    return {{std::move(choice)}, {}, {}};
}

MoveChoice Mover::nodeChoice() const
{
    MoveChoice choice;
    const QString what
        = m_nodes.size() == 1 ? plain(m_nodes.front()) : counted(m_nodes.size(), "node", "nodes");
    choice.label = m_nodes.size() == 1 ? QStringLiteral("Only the node %1").arg(what)
                                       : QStringLiteral("Only these %1").arg(what);
    choice.subject = QStringLiteral("%1 to %2").arg(what, m_title);
    std::vector<policy::Edit> edits;
    const NamedAmong excluded = excludedAmong(m_nodes);
    const NamedAmong overridden = overriddenAmong(m_nodes);
    if (!excluded.isEmpty())
        edits.emplace_back(policy::IncludeNames{excluded.names});
    if (m_to == ListId::Target || m_to == ListId::Fp32 || m_to == ListId::Int8) {
        std::vector<std::string> formless = m_opsOfNodes;
        std::erase_if(formless, [this](const std::string &op) {
            return policy::hasInt8Form(dialect::of(m_graph), op);
        });
        if (m_to == ListId::Int8 && !formless.empty()) {
            choice.why = withoutInt8Form(formless);
            return choice;
        }
        const tensor::DType type = heldType(m_snapshot, m_to);
        if (!areHeldTo(type)) {
            if (!overridden.isEmpty()) // patterns among them
                edits.emplace_back(policy::OverrideNodes{overridden.names, std::nullopt});
            edits.emplace_back(policy::OverrideNodes{m_nodes, type});
        }
        choice.isSo = edits.empty();
        if (choice.isSo)
            choice.why = QStringLiteral("already set to %1").arg(m_title);
    } else if (m_to == ListId::Neutral) {
        choice.label += QStringLiteral(": follow the lists");
        choice.subject = what + QStringLiteral(" to follow the lists");
        if (!overridden.isEmpty())
            edits.emplace_back(policy::OverrideNodes{overridden.names, std::nullopt});
        const std::string &wider = overridden.wider.empty() ? excluded.wider : overridden.wider;
        choice.isSo = edits.empty() && wider.empty();
        if (choice.isSo)
            choice.why = QStringLiteral("it already follows the lists");
        else if (edits.empty())
            choice.why = staysBy(wider);
    } else {
        edits.clear();
        choice.why = QStringLiteral("a single node can only be set to %1, int8 or fp32")
                         .arg(titleOf(ListId::Target, m_snapshot.target()));
    }
    choice.edit = asOne(m_snapshot, std::move(edits), choice.subject);
    return choice;
}

/// The units around the nodes, as a whole each: "The LayerNorm: 9 nodes".
void Mover::addUnitChoices(std::vector<MoveChoice> &choices) const
{
    if (!m_payload.ops.empty() || !takesUnits(m_to))
        return;
    const auto policyAfter
        = [this](const std::optional<policy::Edit> &edit) -> std::optional<policy::Policy> {
        if (!edit)
            return std::nullopt;
        auto after = policy::applyEdit(*m_snapshot.policy, *edit, dialect::of(m_graph));
        return after.ok() ? std::optional(std::move(after).value()) : std::nullopt;
    };
    const auto ofNodes = policyAfter(choices.front().edit);
    for (const session::ModelUnit &unit : session::unitsAround(m_snapshot, m_nodeIds)) {
        std::vector<session::ModelUnit> offered{unit};
        if (auto all = session::allOfKind(m_snapshot, unit))
            offered.push_back(std::move(*all));
        for (const session::ModelUnit &one : offered) {
            MoveChoice choice = unitChoice(m_snapshot, one, m_to);
            if (choice.edit && policyAfter(choice.edit) != ofNodes) // else it is asked already
                choices.push_back(std::move(choice));
        }
    }
}

/// Of many nodes a pattern says the same in one row. Needs: the first choice is that of these nodes alone.
void Mover::addPatternChoice(std::vector<MoveChoice> &choices, const std::vector<std::string> &nodes) const
{
    constexpr std::size_t kManyRows = 20;
    const bool isHeld = m_to == ListId::Target || m_to == ListId::Int8;
    const bool isExcluded = m_to == ListId::Fp32 || m_to == ListId::Excluded;
    if (nodes.size() <= kManyRows || !choices.front().edit || (!isHeld && !isExcluded))
        return;
    const std::optional<std::string> pattern = patternFor(m_graph, nodes);
    const auto &names = m_snapshot.policy->excludedNames;
    if (!pattern || (isExcluded && std::ranges::find(names, *pattern) != names.end()))
        return;
    const NamedAmong overridden = overriddenAmong(nodes);
    if (!overridden.wider.empty()) // of two patterns the first applies, not the newer one
        return;
    MoveChoice choice;
    choice.label = isExcluded
        ? QStringLiteral("Exclude the pattern %1: %2 nodes in one row").arg(plain(*pattern)).arg(nodes.size())
        : QStringLiteral("The pattern %1 to %2: %3 nodes in one row")
              .arg(plain(*pattern), m_title)
              .arg(nodes.size());
    choice.subject = isExcluded
        ? QStringLiteral("Exclude %1 nodes by a pattern").arg(nodes.size())
        : QStringLiteral("%1 nodes to %2 by a pattern").arg(nodes.size()).arg(m_title);
    std::vector<policy::Edit> edits;
    if (!overridden.isEmpty())
        edits.emplace_back(policy::OverrideNodes{overridden.names, std::nullopt});
    if (const NamedAmong listed = excludedAmong(nodes); !listed.isEmpty())
        edits.emplace_back(policy::IncludeNames{listed.names});
    if (isExcluded)
        edits.emplace_back(policy::ExcludeNames{{*pattern}});
    else
        edits.emplace_back(policy::OverrideNodes{{*pattern}, heldType(m_snapshot, m_to)});
    choice.edit = asOne(m_snapshot, std::move(edits), choice.subject);
    choices.push_back(std::move(choice));
}

ListMove Mover::moveNodes() const
{
    ListMove move;
    move.choices.push_back(nodeChoice());
    if (m_payload.ops.empty() && m_nodes.size() == 1) {
        if (move.choices.front().isSo)
            return refused(QStringLiteral("%1: %2").arg(plain(m_nodes.front()), move.choices.front().why));
        if (move.choices.front().edit)
            return move;
    }
    addPatternChoice(move.choices, m_nodes);
    addUnitChoices(move.choices);
    move.choices.push_back(operatorChoice(allOperators()));
    if (std::ranges::none_of(move.choices, [](const MoveChoice &one) { return one.edit.has_value(); }))
        move.refusal = move.choices.back().why;
    return move;
}

} // namespace

ListMove moveTo(const session::Snapshot &snapshot, const ListPayload &payload, ListId to)
{
    return Mover(snapshot, payload, to).move();
}

std::vector<session::ModelUnit> unitsOf(const session::Snapshot &snapshot, const ListPayload &payload)
{
    const Mover mover(snapshot, payload, ListId::Target);
    return payload.ops.empty() && !mover.nodeIds().empty() ? session::unitsAround(snapshot, mover.nodeIds())
                                                           : std::vector<session::ModelUnit>();
}

MoveChoice unitChoice(const session::Snapshot &snapshot, const session::ModelUnit &unit, ListId to)
{
    const QString nodes = counted(unit.nodes.size(), "node", "nodes");
    MoveChoice choice;
    choice.label = (unit.count > 1 ? QStringLiteral("All %1: %2") : QStringLiteral("The whole %1: %2"))
                       .arg(plain(unit.title), nodes);
    choice.subject
        = QStringLiteral("%1 (%2) to %3").arg(plain(unit.title), nodes, titleOf(to, snapshot.target()));
    const auto edit = session::moveUnit(
        snapshot, unit, to == ListId::Neutral ? std::nullopt : std::optional(heldType(snapshot, to)));
    const auto after = edit.ok()
        ? policy::applyEdit(*snapshot.policy, edit.value(), dialect::of(snapshot.graph()))
        : edit.error();
    choice.isSo = after.ok() && after.value() == *snapshot.policy;
    if (!after.ok())
        choice.why = plain(after.error().found);
    else if (choice.isSo)
        choice.why = QStringLiteral("already so");
    else
        choice.edit = edit.value();
    return choice;
}

QString consequence(const QString &subject, const session::EditEffect &effect)
{
    if (effect.error)
        return QStringLiteral("%1: not possible, %2").arg(subject, plain(effect.error->found));
    const QString casts = effect.castsBefore == effect.castsAfter
        ? QStringLiteral("casts stay %1").arg(effect.castsBefore)
        : QStringLiteral("casts %1 \u2192 %2").arg(effect.castsBefore).arg(effect.castsAfter);
    const QString changed = effect.nodesChanged == 0 ? QStringLiteral("no node changes precision")
        : effect.nodesChanged == 1                   ? QStringLiteral("1 node changes precision")
                                   : QStringLiteral("%1 nodes change precision").arg(effect.nodesChanged);
    return QStringLiteral("%1: %2; %3").arg(subject, casts, changed);
}

} // namespace halftone::widgets
