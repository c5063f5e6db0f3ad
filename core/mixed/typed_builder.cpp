#include "core/mixed/typed_builder.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"

#include <algorithm>

namespace halftone::mixed {

using graph::Entry;
using graph::NodeId;
using tensor::DType;

namespace {

constexpr std::array kCasts{DType::F32, DType::F16, DType::BF16};

std::size_t slotOf(DType type)
{
    return static_cast<std::size_t>(std::ranges::find(kCasts, type) - kCasts.begin());
}

} // namespace

TypedBuilder::TypedBuilder(const graph::Graph &source, const infer::NodeTypes &rules, const TypedPlan &plan,
                           std::span<const infer::Variable> variables, const std::vector<DType> &stored,
                           const NewBodies &bodies)
    : m_source(source)
    , m_dialect(dialect::of(source))
    , m_rules(rules)
    , m_plan(plan)
    , m_variables(variables)
    , m_stored(stored)
    , m_bodies(bodies)
    , m_casts(plan.value.size(), std::array<std::uint32_t, kCastTypes>{})
{
    for (const NodeId id : plan.order) {
        const std::string &name = source.node(id).name;
        if (m_dialect.isCastName(name))
            m_names.reserve(name);
    }
}

rewrite::Conversion TypedBuilder::build()
{
    m_result.graph = graph::Graph::like(m_source);
    m_result.graph.reserve(m_plan.order.size() * 3 / 2, m_plan.reads.size() * 3 / 2);
    m_result.types.reserve(m_plan.order.size() * 3 / 2);
    m_result.fromSource.assign(m_source.nodeCount(), rewrite::kNoNode);
    for (const NodeId id : m_plan.order) {
        if (m_source.isVariable(id))
            addVariable(id);
        else
            addNode(id);
    }
    addHeads();
    markCastParameters();
    sort();
    m_result.foldedCasts = m_plan.foldedCasts;
    m_result.merged = m_plan.merged;
    m_result.moved = m_plan.moved;
    m_result.choices = m_plan.choices;
    m_result.notes = m_plan.notes;
    return std::move(m_result);
}

/// A variable that is stored in another type, or says a wrong one, gets the right `__dtype__`.
void TypedBuilder::addVariable(NodeId id)
{
    const graph::NodeDefPtr &def = m_source.sharedNode(id);
    const DType type = m_stored[id];
    // What is declared and yet assumed is a type that we have no word for.
    const bool says = type != m_plan.original[m_plan.firstOutput[id]]
        || (m_dialect.declaresType(*def) && !m_variables[id].isAssumed);
    m_result.fromSource[id] = m_result.graph.add(says ? m_dialect.withDeclaredType(def, type) : def, {});
    m_result.types.append(type);
}

/// MXNet infers the type of a parameter from its readers, but a cast reads any type.
void TypedBuilder::markCastParameters()
{
    for (const rewrite::InsertedCast &cast : m_result.casts) {
        const NodeId id = cast.tensor.node;
        if (!m_source.isVariable(id) || m_variables[id].isData)
            continue;
        const NodeId copy = m_result.fromSource[id];
        const graph::NodeDefPtr def = m_result.graph.sharedNode(copy);
        graph::NodeDefPtr now = m_dialect.withDeclaredType(def, m_stored[id]);
        if (now == def)
            continue;
        m_result.graph.redefine(copy, std::move(now));
        m_result.markedParameters.push_back(id);
    }
}

void TypedBuilder::addNode(NodeId id)
{
    m_inputs.clear();
    const auto inputs = m_source.inputs(id);
    const std::uint32_t first = m_plan.firstInput[id];
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
        m_inputs.push_back(as(inputs[i], m_plan.reads[first + i], {id, i}));
    m_dependencies.clear();
    for (const NodeId dependency : m_source.controlDependencies(id))
        m_dependencies.push_back(m_result.fromSource[m_plan.valueOf({dependency, 0, 0}).node]);
    const auto body = m_bodies.find(id);
    m_result.fromSource[id] = m_result.graph.add(
        body == m_bodies.end() ? m_source.sharedNode(id) : body->second, m_inputs, m_dependencies);
    if (m_stored[id] != DType::Unknown)
        m_result.types.append(m_stored[id]);
    else
        m_result.types.append(
            std::span(m_plan.native).subspan(m_plan.firstOutput[id], m_rules.outputCount(id)));
}

/// In the converted graph.
DType TypedBuilder::typeOf(const Entry &value) const
{
    const DType stored = m_stored[value.node];
    return stored == DType::Unknown ? m_plan.native[m_plan.output(value)] : stored;
}

Entry TypedBuilder::raw(const Entry &value, std::uint32_t version) const
{
    return {m_result.fromSource[value.node], value.output, version};
}

/// The tensor in that type: as it comes, or through the one cast that there is for all its readers.
Entry TypedBuilder::as(const Entry &entry, DType type, rewrite::Reader reader)
{
    const Entry &value = m_plan.valueOf(entry);
    const std::uint32_t output = m_plan.output(value);
    if (!rewrite::isCastable(type) || typeOf(value) == type)
        return raw(value, entry.version);
    std::uint32_t &cast = m_casts[output][slotOf(type)];
    if (cast == 0)
        cast = addCast(value, type);
    rewrite::InsertedCast &inserted = m_result.casts[cast - 1];
    inserted.readers.push_back(reader);
    return {inserted.cast, 0, entry.version};
}

std::uint32_t TypedBuilder::addCast(const Entry &value, DType type)
{
    const graph::NodeDef &maker = m_source.node(value.node);
    // A format that names values has names of their own for them.
    std::string base = maker.outputs.empty() ? maker.name + '_' + std::to_string(value.output)
                                             : m_dialect.entryName(m_source, value);
    std::string name = m_names.take(m_dialect.castName(std::move(base), type));
    const Entry input = raw(value, value.version);
    const NodeId id = m_result.graph.add(m_dialect.makeCast(std::move(name), type), std::span(&input, 1));
    m_result.types.append(type);
    m_result.casts.push_back({id, value, type, {}});
    return static_cast<std::uint32_t>(m_result.casts.size());
}

void TypedBuilder::addHeads()
{
    std::vector<Entry> heads;
    const auto sources = m_source.heads();
    for (std::uint32_t k = 0; k < sources.size(); ++k)
        heads.push_back(as(sources[k], m_plan.headReads[k], {rewrite::kNoNode, k}));
    m_result.graph.setHeads(std::move(heads));
}

/// Where values have names, a cast at a head has the head's, and the next conversion takes it for a node of the source: it stands
/// where that finds it, so that nothing changes then.
void TypedBuilder::sort()
{
    const graph::Graph &built = m_result.graph;
    const auto namesValues = [this](NodeId id) { return !m_source.node(id).outputs.empty(); };
    if (std::ranges::none_of(m_plan.order, namesValues))
        return;
    const std::vector<NodeId> order = graph::postOrder(built);
    if (order.size() != built.nodeCount() || std::ranges::is_sorted(order))
        return;
    std::vector<NodeId> place(order.size());
    for (NodeId id = 0; id < order.size(); ++id)
        place[order[id]] = id;
    graph::Graph sorted = graph::Graph::like(m_source);
    sorted.reserve(order.size(), m_plan.reads.size() * 3 / 2);
    infer::TypeMap types;
    types.reserve(order.size());
    for (const NodeId id : order) {
        m_inputs.clear();
        for (const Entry &entry : built.inputs(id))
            m_inputs.push_back({place[entry.node], entry.output, entry.version});
        m_dependencies.clear();
        for (const NodeId dependency : built.controlDependencies(id))
            m_dependencies.push_back(place[dependency]);
        sorted.add(built.sharedNode(id), m_inputs, m_dependencies);
        types.append(m_result.types.outputs(id));
    }
    std::vector<Entry> heads;
    for (const Entry &head : built.heads())
        heads.push_back({place[head.node], head.output, head.version});
    sorted.setHeads(std::move(heads));
    m_result.graph = std::move(sorted);
    m_result.types = std::move(types);
    for (NodeId &copy : m_result.fromSource)
        if (copy != rewrite::kNoNode)
            copy = place[copy];
    for (rewrite::InsertedCast &cast : m_result.casts)
        cast.cast = place[cast.cast];
}

} // namespace halftone::mixed
