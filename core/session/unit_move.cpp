#include "core/session/unit_move.h"

#include "core/dialect/dialect.h"
#include "core/policy/int8_forms.h"

#include <algorithm>
#include <iterator>
#include <unordered_set>

namespace halftone::session {
namespace {

using Names = std::vector<std::string>;

ModelUnit namedUnit(const graph::Graph &graph, const patterns::Unit &unit)
{
    ModelUnit named{std::string(patterns::titleOf(unit.kind)), {}, unit.kind};
    for (const patterns::NodeIndex node : unit.nodes)
        if (!graph.isVariable(node))
            named.nodes.push_back(graph.node(node).name);
    return named;
}

/// "LayerNorms", "Softmaxes"
std::string pluralOf(std::string_view title)
{
    const bool hisses = title.ends_with('x') || title.ends_with('s') || title.ends_with("sh");
    return std::string(title) + (hisses ? "es" : "s");
}

/// Those of `names` whose operators have an int8 form.
Names withInt8Form(const graph::Graph &graph, const Names &names)
{
    const std::unordered_set<std::string_view> wanted(names.begin(), names.end());
    Names found;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (!node.isVariable() && wanted.contains(node.name)
            && policy::hasInt8Form(dialect::of(graph), node.op))
            found.push_back(node.name);
    }
    return found;
}

/// Names that stand in `listed`.
template <class Container>
Names namesIn(const Names &names, const Container &listed)
{
    const std::unordered_set<std::string_view> held(listed.begin(), listed.end());
    Names found;
    std::ranges::copy_if(names, std::back_inserter(found),
                         [&](const std::string &name) { return held.contains(name); });
    return found;
}

} // namespace

const std::vector<patterns::Unit> &UnitFinder::unitsOf(const graph::Model &model)
{
    std::call_once(m_found, [&] {
        m_units = patterns::findAllUnits(patterns::networkOf(model));
        std::ranges::stable_sort(m_units, {}, [](const patterns::Unit &unit) { return unit.nodes.size(); });
    });
    return m_units;
}

std::vector<ModelUnit> unitsAround(const Snapshot &snapshot, std::vector<graph::NodeId> nodes)
{
    std::vector<ModelUnit> around;
    if (nodes.empty() || !snapshot.units)
        return around;
    std::ranges::sort(nodes);
    const patterns::Unit *within = nullptr;
    for (const patterns::Unit &unit : snapshot.units->unitsOf(snapshot.source->model)) {
        if (std::ranges::includes(unit.nodes, nodes))
            around.push_back(namedUnit(snapshot.graph(), unit));
        else if (2 * unit.nodes.size() >= nodes.size() && std::ranges::includes(nodes, unit.nodes))
            within = &unit; // the latest is the largest
    }
    if (within != nullptr)
        around.insert(around.begin(), namedUnit(snapshot.graph(), *within));
    return around;
}

std::optional<ModelUnit> allOfKind(const Snapshot &snapshot, const ModelUnit &unit)
{
    if (!unit.kind || !snapshot.units)
        return std::nullopt;
    std::vector<bool> isIn(snapshot.graph().nodeCount());
    ModelUnit all{{}, {}, unit.kind, 0};
    for (const patterns::Unit &one : snapshot.units->unitsOf(snapshot.source->model)) {
        if (one.kind != *unit.kind)
            continue;
        ++all.count;
        for (const patterns::NodeIndex node : one.nodes)
            isIn[node] = true;
    }
    if (all.count < 2)
        return std::nullopt;
    all.title = std::to_string(all.count) + ' ' + pluralOf(patterns::titleOf(*unit.kind));
    for (graph::NodeId id = 0; id < isIn.size(); ++id)
        if (isIn[id] && !snapshot.graph().isVariable(id))
            all.nodes.push_back(snapshot.graph().node(id).name);
    return all;
}

Result<policy::Edit> moveUnit(const Snapshot &snapshot, const ModelUnit &unit,
                              std::optional<tensor::DType> type)
{
    const bool isInt8 = type == tensor::DType::I8;
    const Names held = isInt8 ? withInt8Form(snapshot.graph(), unit.nodes) : unit.nodes;
    if (held.empty())
        return badInput(unit.title, "no operator with an int8 form", "a unit with a product");
    std::vector<policy::Edit> edits;
    if (Names excluded = namesIn(unit.nodes, snapshot.policy->excludedNames); !excluded.empty())
        edits.emplace_back(policy::IncludeNames{std::move(excluded)});
    if (isInt8 || !type) // what the lists decide
        edits.emplace_back(policy::OverrideNodes{unit.nodes, std::nullopt});
    if (type)
        edits.emplace_back(policy::OverrideNodes{held, type});
    policy::Policy policy = *snapshot.policy;
    for (const policy::Edit &edit : edits) {
        HALFTONE_TRY(policy, policy::applyEdit(policy, edit, dialect::of(snapshot.graph())));
    }
    const std::string where = type ? " to " + std::string(tensor::nameOf(*type)) : " to follow the lists";
    return policy::Edit(policy::ReplacePolicy{
        std::move(policy), unit.title + " (" + std::to_string(unit.nodes.size()) + " nodes)" + where});
}

} // namespace halftone::session
