#include "core/mixed/node_for_node.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/mixed/mark_parameters.h"
#include "core/mixed/node_for_node_converter.h"

#include <algorithm>

namespace halftone::mixed {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using policy::Request;
using tensor::DType;

Result<rewrite::Conversion> NodeForNodeConverter::run(std::span<const NodeId> order, const Progress &progress)
{
    constexpr std::size_t kBetweenLooks = 4096;
    m_result.graph = graph::Graph::like(m_source);
    m_result.graph.reserve(order.size() * 3 / 2, order.size() * 3);
    m_result.types.reserve(order.size() * 3 / 2);
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k % kBetweenLooks == 0) {
            HALFTONE_CHECK(progress.checkStop());
            progress.tell(static_cast<double>(k) / static_cast<double>(order.size()), "converting");
        }
        HALFTONE_CHECK(visit(order[k]));
    }
    addHeads();
    return std::move(m_result);
}

Result<void> NodeForNodeConverter::visit(NodeId id)
{
    if (m_source.isVariable(id)) {
        visitVariable(id);
        return {};
    }
    const policy::Rule rule = m_assignment.rule(id);
    switch (policy::requestOf(rule)) {
    case Request::Fp32:
    case Request::Int8:
        readFp32(id, rule == policy::Rule::Conditional);
        commit(id);
        placeAll(id, Side::Fp32);
        return {};
    case Request::Target:
        return visitTarget(id);
    case Request::Widest:
        return visitWidest(id);
    case Request::Follow:
    case Request::Nothing:
        break;
    }
    visitNeutral(id);
    return {};
}

void NodeForNodeConverter::visitVariable(NodeId id)
{
    m_result.fromSource[id] = m_result.graph.add(m_source.sharedNode(id), {}, {});
    m_result.types.append(m_storage.typeOf(id));
    if (m_assignment.rule(id) == policy::Rule::ExcludedName)
        m_casts.setNative({id, 0, 0}, Side::Fp32);
}

/// M-fp32 and M-conditional. A variable counts as float32 as it is, unless it is known to be another float.
void NodeForNodeConverter::readFp32(NodeId id, bool conditional)
{
    m_inputs.clear();
    const auto inputs = m_source.inputs(id);
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        const Entry &entry = inputs[i];
        const bool isVariable = m_source.isVariable(entry.node);
        const DType type = isVariable ? m_storage.typeOf(entry.node) : DType::Unknown;
        const bool isFp32 = isVariable && !tensor::isHalf(type);
        const bool stays = !m_casts.has(entry, Side::Fp32) && (conditional ? isMutable(id, i) : isFp32);
        const bool isInteger = isVariable && type != DType::Unknown && !tensor::isFloat(type);
        m_inputs.push_back(stays || isInteger ? m_casts.raw(entry) : as(entry, Side::Fp32, {id, i}));
        if (isParameter(entry) && stays)
            readStored(entry.node, DType::F32);
    }
}

/// A reader takes a parameter as it is stored, wanting that type; false when it is stored in another one.
bool NodeForNodeConverter::readStored(NodeId variable, DType wanted)
{
    bool served = wanted == m_storage.typeOf(variable);
    if (wanted == m_target) {
        served = m_storage.readAsTarget(variable);
    } else if (wanted == DType::F32) {
        m_storage.readAsFp32(variable);
        served = true;
    }
    m_result.types.outputs(m_result.fromSource[variable])[0] = m_storage.typeOf(variable);
    return served;
}

/// The tensor on that side, cast if need be.
Entry NodeForNodeConverter::as(const Entry &entry, Side side, rewrite::Reader reader)
{
    if (isParameter(entry) && !m_casts.isNative(entry, side))
        m_storage.readThroughCast(entry.node, m_casts.typeOf(side));
    return m_casts.as(entry, side, reader);
}

/// M-target.
Result<void> NodeForNodeConverter::visitTarget(NodeId id)
{
    const graph::NodeDef &node = m_source.node(id);
    TypeOutcome believed = believe(id, m_target);
    if (!node.subgraphs.empty()) // its rule is what its bodies make of the type
        believed = m_rules.apply(id, m_in, m_out);
    if (believed != TypeOutcome::Complete) {
        return badInput(node.name,
                        node.op + " does not support " + std::string(tensor::nameOf(m_target)) + ", but "
                            + m_assignment.entry(id) + " requests it",
                        "an operator that supports this type");
    }
    m_wanted = m_in;
    m_believedOut = m_out;
    m_inputs.clear();
    const auto inputs = m_source.inputs(id);
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        const Entry &entry = inputs[i];
        const bool wantsTarget = m_wanted[i] == m_target;
        const bool isVariable = m_source.isVariable(entry.node);
        const DType type = isVariable ? m_storage.typeOf(entry.node) : DType::Unknown;
        const bool isInteger = isVariable && type != DType::Unknown && !tensor::isFloat(type);
        if (isParameter(entry) && wantsTarget && !m_casts.has(entry, Side::Target)
            && readStored(entry.node, m_target))
            m_casts.setNative(entry, Side::Target);
        const bool stays
            = !m_casts.has(entry, Side::Target) && (!wantsTarget || isInteger || isMutable(id, i));
        if (stays && isParameter(entry) && m_wanted[i] == DType::F32)
            readStored(entry.node, DType::F32);
        m_inputs.push_back(stays ? m_casts.raw(entry) : as(entry, Side::Target, {id, i}));
    }
    commit(id);
    placeOutputs(id, m_believedOut);
    return {};
}

/// M-widest.
Result<void> NodeForNodeConverter::visitWidest(NodeId id)
{
    const graph::NodeDef &node = m_source.node(id);
    if (m_source.inputs(id).empty() || (opOf(id) != nullptr && opOf(id)->hasMutableInputs()))
        return badInput(node.name,
                        node.op + " is treated as widest (" + m_assignment.entry(id) + ") but "
                            + (m_source.inputs(id).empty() ? "has no inputs" : "changes one of its inputs"),
                        "an operator that only reads its inputs");
    readWidest(id);
    return {};
}

void NodeForNodeConverter::readWidest(NodeId id)
{
    const auto inputs = m_source.inputs(id);
    const auto known = [this](const Entry &entry) {
        return m_casts.has(entry, Side::Target) || m_casts.has(entry, Side::Fp32);
    };
    m_inputs.clear();
    if (!std::ranges::all_of(inputs, known)) {
        const bool onlyVariables
            = std::ranges::all_of(inputs, [this](const Entry &e) { return m_source.isVariable(e.node); });
        for (const Entry &entry : inputs) {
            if (isParameter(entry) && onlyVariables)
                m_storage.readByMulticast(entry.node);
        }
        const NodeId multicast = m_casts.multicast(id);
        for (std::uint32_t i = 0; i < inputs.size(); ++i)
            m_inputs.push_back({multicast, i, inputs[i].version});
        commit(id);
        return;
    }
    const bool anyFp32
        = std::ranges::any_of(inputs, [this](const Entry &e) { return m_casts.has(e, Side::Fp32); });
    Side side = anyFp32 ? Side::Fp32 : Side::Target;
    readAll(id, side);
    if (side == Side::Target && evaluate(id) == TypeOutcome::Refused) {
        m_result.notes.push_back({id, "does not support 16 bit; kept in float32"});
        side = Side::Fp32;
        readAll(id, side);
    }
    commit(id);
    placeAll(id, side);
}

void NodeForNodeConverter::readAll(NodeId id, Side side)
{
    m_inputs.clear();
    const auto inputs = m_source.inputs(id);
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
        m_inputs.push_back(as(inputs[i], side, {id, i}));
}

void NodeForNodeConverter::readRaw(NodeId id)
{
    m_inputs.clear();
    for (const Entry &entry : m_source.inputs(id))
        m_inputs.push_back(m_casts.raw(entry));
}

/// The node's type rule on the types of `m_inputs`, into m_in and m_out.
TypeOutcome NodeForNodeConverter::evaluate(NodeId id)
{
    m_in.clear();
    for (const Entry &entry : m_inputs)
        m_in.push_back(m_result.types.of(entry));
    m_out.assign(outputCount(id), DType::Unknown);
    if (opOf(id) == nullptr)
        return TypeOutcome::Incomplete;
    if (dialect::roleOf(m_source, id)
        == dialect::NodeRole::ControlFlow) { // whose bodies tell, where they can
        const TypeOutcome outcome = m_rules.apply(id, m_in, m_out);
        if (outcome != TypeOutcome::Refused)
            return outcome;
        m_out.assign(outputCount(id), DType::Unknown);
        return TypeOutcome::Incomplete;
    }
    return opOf(id)->typeRule(m_source.node(id).attributes).apply(m_in, m_out);
}

/// The node's type rule with the first input's type alone, as MXNet's pass asks it, into m_in and m_out.
TypeOutcome NodeForNodeConverter::believe(NodeId id, DType first)
{
    m_in.assign(m_source.inputs(id).size(), DType::Unknown);
    if (!m_in.empty())
        m_in[0] = first;
    m_out.assign(outputCount(id), DType::Unknown);
    if (opOf(id) == nullptr)
        return TypeOutcome::Incomplete;
    if (dialect::roleOf(m_source, id) == dialect::NodeRole::ControlFlow) // whose bodies tell
        return m_rules.apply(id, m_in, m_out);
    const ops::TypeRule rule = opOf(id)->typeRule(m_source.node(id).attributes);
    return rule.isFallback() ? TypeOutcome::Complete : rule.apply(m_in, m_out);
}

/// Adds the node reading `m_inputs`, for which evaluate() gave `outcome`.
void NodeForNodeConverter::commit(NodeId id, TypeOutcome outcome)
{
    if (outcome == TypeOutcome::Refused) {
        m_wellTyped = false;
        std::ranges::fill(m_out, DType::Unknown);
    }
    std::vector<NodeId> dependencies;
    for (const NodeId dependency : m_source.controlDependencies(id))
        dependencies.push_back(m_result.fromSource[dependency]);
    const NodeId copy = m_result.graph.add(m_source.sharedNode(id), m_inputs, dependencies);
    m_result.fromSource[id] = copy;
    m_result.types.append(m_out);
    if (outcome == TypeOutcome::Refused || !m_storage.hasOpen())
        return;
    // A parameter whose storage type is open takes the one that the rule gives it here.
    const auto inputs = m_source.inputs(id);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!isParameter(inputs[i]) || m_storage.typeOf(inputs[i].node) != DType::Unknown
            || m_inputs[i].node != m_result.fromSource[inputs[i].node])
            continue;
        readStored(inputs[i].node, m_in[i]);
    }
}

void NodeForNodeConverter::placeOutputs(NodeId id, std::span<const DType> types)
{
    const std::size_t slots = std::min<std::size_t>(types.size(), m_rules.referencedOutputs(id));
    for (std::uint32_t k = 0; k < slots; ++k) {
        if (types[k] == m_target)
            m_casts.setNative({id, k, 0}, Side::Target);
        else if (types[k] == DType::F32)
            m_casts.setNative({id, k, 0}, Side::Fp32);
    }
}

void NodeForNodeConverter::placeAll(NodeId id, Side side)
{
    for (std::uint32_t k = 0; k < m_rules.referencedOutputs(id); ++k)
        m_casts.setNative({id, k, 0}, side);
}

void NodeForNodeConverter::addHeads()
{
    std::vector<Entry> heads;
    for (std::uint32_t k = 0; k < m_source.heads().size(); ++k)
        heads.push_back(as(m_source.heads()[k], Side::Fp32, {rewrite::kNoNode, k}));
    m_result.graph.setHeads(std::move(heads));
}

Result<rewrite::Conversion> convertNodeForNode(const graph::Graph &source,
                                               const policy::Assignment &assignment,
                                               std::span<const infer::Variable> variables,
                                               const NodeForNodeSettings &settings, const Progress &progress)
{
    const std::vector<NodeId> order = graph::postOrder(source);
    ParameterStorage storage(variables, settings.target, settings.castParams);
    while (true) {
        NodeForNodeConverter converter(source, assignment, storage, settings.target);
        HALFTONE_TRY(rewrite::Conversion conversion, converter.run(order, progress));
        if (storage.restart())
            continue;
        storage.settle();
        if (settings.castParams || !converter.isWellTyped())
            HALFTONE_CHECK(retype(source, storage, conversion));
        markParameters(source, storage, conversion);
        listStoredParameters(source, variables, storage, conversion);
        return conversion;
    }
}

} // namespace halftone::mixed
