#include "core/mixed/convert_bodies.h"

#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/infer/lists.h"
#include "core/mixed/hold/function_calls.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using tensor::DType;

/// One control flow node and the conversions of its bodies.
class Node
{
public:
    Node(const graph::Graph &source, NodeId id, const TypedSettings &settings, const Progress &progress,
         TypedPlan &plan)
        : m_source(source)
        , m_id(id)
        , m_settings(settings)
        , m_progress(progress)
        , m_plan(plan)
        , m_bodySettings{settings.target,     settings.mode,     true, true, settings.share, nullptr,
                         settings.assignBody, settings.depth + 1}
    {
        m_bodySettings.castConstants = settings.castConstants;
        m_bodySettings.clamps = settings.clamps;
        m_bodySettings.forms = settings.forms;
    }

    Result<bool> convert();
    graph::NodeDefPtr definition() const;
    void log(std::vector<rewrite::ConvertedBody> &bodies);

private:
    DType originalType(std::size_t input) const
    {
        return m_plan.original[m_plan.output(m_source.inputs(m_id)[input])];
    }
    Result<void> findHoistable();
    Result<rewrite::Conversion> convertBody(const infer::BoundBody &body) const;
    bool dropDisagreements();
    std::uint32_t indexOf(const infer::BoundBody &body) const;

    const graph::Graph &m_source;
    NodeId m_id;
    const TypedSettings &m_settings;
    const Progress &m_progress;
    TypedPlan &m_plan;
    TypedSettings m_bodySettings;
    infer::BodyBinding m_binding;
    std::vector<rewrite::Conversion> m_conversions; ///< by body of the binding
    std::vector<bool> m_hoistable; ///< by input: may come in the target type when all bodies want it
};

/// Inputs that no loop carries, since a state has to keep the type that the body hands on, and that are the same in every
/// step, or come in the target type anyway: casting what is sliced costs the same inside.
Result<void> Node::findHoistable()
{
    const std::size_t count = m_source.inputs(m_id).size();
    m_hoistable.assign(count, false);
    for (std::size_t i = 0; i < count; ++i)
        m_hoistable[i] = rewrite::isCastable(originalType(i))
            && rewrite::isCastable(m_plan.nativeOf(m_source.inputs(m_id)[i]))
            && (m_plan.nativeOf(m_source.inputs(m_id)[i]) == m_settings.target
                || !infer::isNoTensor(m_source, m_id, i)); // lists come as they are
    for (const infer::BodyBinding::Carried &carried : m_binding.carried)
        m_hoistable[carried.input] = false;
    for (const infer::BoundBody &body : m_binding.bodies) {
        for (const infer::BoundBody::Tie &tie : body.ties)
            if (tie.sliced)
                m_hoistable[tie.input] = m_hoistable[tie.input]
                    && m_plan.nativeOf(m_source.inputs(m_id)[tie.input]) == m_settings.target;
    }
    HALFTONE_TRY(const ops::Operator op, dialect::of(m_source).read(m_source.node(m_id)));
    const auto *const flow = op.getIf<ops::ControlFlow>();
    if (flow != nullptr && flow->kind == ops::ControlFlow::Kind::ForEach) {
        for (std::size_t k = 0; k < flow->stateLocations.size(); ++k)
            m_hoistable[flow->dataLocations.size() + k] = false;
    }
    return {};
}

Result<rewrite::Conversion> Node::convertBody(const infer::BoundBody &body) const
{
    std::vector<infer::Variable> variables(body.graph->nodeCount(), infer::Variable{true, DType::F32, true});
    for (const infer::BoundBody::Tie &tie : body.ties)
        variables[tie.variable] = {!m_hoistable[tie.input], originalType(tie.input), false};
    for (const infer::BoundBody::Given &given : body.given)
        variables[given.variable] = {true, given.isStep ? DType::I64 : DType::Bool, false};
    return convertTyped(*body.graph, m_settings.assignBody(*body.graph), variables, m_bodySettings,
                        m_progress);
}

/// Inputs that one body takes in the target type and another does not stay as they are. True when there were any.
bool Node::dropDisagreements()
{
    std::vector<bool> refused(m_hoistable.size(), false);
    std::vector<bool> taken(m_hoistable.size(), false);
    for (std::size_t k = 0; k < m_conversions.size(); ++k) {
        for (const infer::BoundBody::Tie &tie : m_binding.bodies[k].ties) {
            const bool takes = std::ranges::find(m_conversions[k].parameters, tie.variable,
                                                 &rewrite::StoredParameter::variable)
                != m_conversions[k].parameters.end();
            (takes ? taken : refused)[tie.input] = true;
        }
    }
    bool disagree = false;
    for (std::size_t i = 0; i < m_hoistable.size(); ++i) {
        disagree |= taken[i] && refused[i];
        m_hoistable[i] = taken[i] && !refused[i];
    }
    return disagree;
}

/// False when the node's bodies are none of ours to change.
Result<bool> Node::convert()
{
    const std::size_t outputs = m_plan.firstOutput.size() > m_id + 1
        ? m_plan.firstOutput[m_id + 1] - m_plan.firstOutput[m_id]
        : m_plan.value.size() - m_plan.firstOutput[m_id];
    HALFTONE_TRY(m_binding, infer::bindBodies(m_source, m_id, outputs));
    if (m_binding.bodies.empty())
        return false;
    HALFTONE_CHECK(findHoistable());
    do { // twice at most: what is left after the first time, all agree on
        m_conversions.clear();
        for (const infer::BoundBody &body : m_binding.bodies) {
            HALFTONE_TRY(rewrite::Conversion conversion, convertBody(body));
            m_conversions.push_back(std::move(conversion));
        }
    } while (dropDisagreements());
    for (std::size_t i = 0; i < m_hoistable.size(); ++i) {
        if (m_hoistable[i])
            m_plan.reads[m_plan.firstInput[m_id] + i] = m_settings.target;
    }
    return true;
}

std::uint32_t Node::indexOf(const infer::BoundBody &body) const
{
    const auto &subgraphs = m_source.node(m_id).subgraphs;
    const auto at
        = std::ranges::find_if(subgraphs, [&](const auto &graph) { return graph.get() == body.graph; });
    return static_cast<std::uint32_t>(at - subgraphs.begin());
}

graph::NodeDefPtr Node::definition() const
{
    auto def = std::make_shared<graph::NodeDef>(m_source.node(m_id));
    for (std::size_t k = 0; k < m_conversions.size(); ++k)
        def->subgraphs[indexOf(m_binding.bodies[k])]
            = std::make_shared<const graph::Graph>(m_conversions[k].graph);
    return def;
}

void Node::log(std::vector<rewrite::ConvertedBody> &bodies)
{
    for (std::size_t k = 0; k < m_conversions.size(); ++k)
        bodies.push_back({m_id, indexOf(m_binding.bodies[k]), std::move(m_conversions[k])});
}

} // namespace

Result<ConvertedBodies> convertBodies(const graph::Graph &source, const policy::Assignment &assignment,
                                      const TypedSettings &settings, const Progress &progress,
                                      TypedPlan &plan)
{
    ConvertedBodies bodies;
    if (!settings.assignBody)
        return bodies;
    for (const NodeId id : plan.order) {
        if (!isControlFlow(source, id) || assignment.requested(id) == policy::Request::Fp32)
            continue;
        if (isCall(source, id)) // typed as one operator
            continue;
        if (settings.depth >= infer::kMaxBodyDepth) {
            plan.notes.push_back({id, "its body is nested too deeply and stays as it is"});
            continue;
        }
        Node node(source, id, settings, progress, plan);
        HALFTONE_TRY(const bool converted, node.convert());
        if (!converted) {
            plan.notes.push_back({id, "its body is not analysed and stays as it is"});
            continue;
        }
        bodies.definitions.emplace(id, node.definition());
        node.log(bodies.log);
    }
    return bodies;
}

} // namespace halftone::mixed
