#include "core/mixed/convert_mxnet.h"

#include "core/dialect/dialect.h"
#include "core/dialect/op_info.h"
#include "core/graph/traverse.h"
#include "core/infer/node_types.h"
#include "core/mixed/cast_table.h"
#include "core/mixed/mark_parameters.h"
#include "core/mixed/parameter_storage.h"

#include <algorithm>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using policy::Request;
using tensor::DType;

/// One run over the graph with one belief of which parameters may be stored in the target type.
class Converter
{
public:
    Converter(const graph::Graph &source, const policy::Assignment &assignment, ParameterStorage &storage,
              DType target)
        : m_source(source)
        , m_assignment(assignment)
        , m_storage(storage)
        , m_target(target)
        , m_rules(source)
        , m_casts(source, m_rules, target, m_result)
    {
        m_result.fromSource.assign(source.nodeCount(), rewrite::kNoNode);
    }

    Result<rewrite::Conversion> run(std::span<const NodeId> order, const Progress &progress);

    /// The type rules were content with every node: no inference over the whole result is needed to know that
    /// it is well typed.
    bool isWellTyped() const { return m_wellTyped; }

private:
    Result<void> visit(NodeId id);
    void visitVariable(NodeId id);
    Result<void> visitTarget(NodeId id);
    Result<void> visitWidest(NodeId id);
    void visitNeutral(NodeId id);

    void readFp32(NodeId id, bool conditional);
    void readWidest(NodeId id);
    void readAll(NodeId id, Side side);
    void readRaw(NodeId id);
    bool readStored(NodeId variable, DType wanted);
    Entry as(const Entry &entry, Side side, rewrite::Reader reader);
    bool mendNeutral(NodeId id, DType belief);
    void castParametersToTarget(NodeId id);
    DType belief(const Entry &entry) const;

    TypeOutcome evaluate(NodeId id);
    bool readsOnlyOpen() const;
    TypeOutcome believe(NodeId id, DType first);
    void commit(NodeId id) { commit(id, evaluate(id)); }
    void commit(NodeId id, TypeOutcome outcome);
    void placeOutputs(NodeId id, std::span<const DType> types);
    void placeAll(NodeId id, Side side);
    void addHeads();

    const dialect::OpInfo *opOf(NodeId id) const { return m_rules.op(id); }
    bool isMutable(NodeId id, std::size_t input) const { return m_rules.isMutable(id, input); }
    bool isParameter(const Entry &entry) const
    {
        return m_source.isVariable(entry.node) && m_storage.isParameter(entry.node);
    }
    std::uint32_t outputCount(NodeId id) const { return m_rules.outputCount(id); }

    const graph::Graph &m_source;
    const policy::Assignment &m_assignment;
    ParameterStorage &m_storage;
    DType m_target;
    rewrite::Conversion m_result;
    infer::NodeTypes m_rules;
    CastTable m_casts;
    bool m_wellTyped = true;
    // Scratch of the node at hand, kept for its capacity.
    std::vector<Entry> m_inputs; ///< in the graph under construction
    std::vector<DType> m_in, m_out; ///< its types by the last rule that was applied
    std::vector<DType> m_wanted, m_believedOut;
};

Result<rewrite::Conversion> Converter::run(std::span<const NodeId> order, const Progress &progress)
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

Result<void> Converter::visit(NodeId id)
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

void Converter::visitVariable(NodeId id)
{
    m_result.fromSource[id] = m_result.graph.add(m_source.sharedNode(id), {}, {});
    m_result.types.append(m_storage.typeOf(id));
    if (m_assignment.rule(id) == policy::Rule::ExcludedName)
        m_casts.setNative({id, 0, 0}, Side::Fp32);
}

/// M-fp32 and M-conditional. A variable counts as float32 as it is, unless it is known to be another float.
void Converter::readFp32(NodeId id, bool conditional)
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
bool Converter::readStored(NodeId variable, DType wanted)
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
Entry Converter::as(const Entry &entry, Side side, rewrite::Reader reader)
{
    if (isParameter(entry) && !m_casts.isNative(entry, side))
        m_storage.readThroughCast(entry.node, m_casts.typeOf(side));
    return m_casts.as(entry, side, reader);
}

/// M-target.
Result<void> Converter::visitTarget(NodeId id)
{
    const graph::NodeDef &node = m_source.node(id);
    TypeOutcome believed = believe(id, m_target);
    if (!node.subgraphs.empty()) // its rule is what its bodies make of the type
        believed = m_rules.apply(id, m_in, m_out);
    if (believed != TypeOutcome::Complete) {
        return badInput(node.name,
                        "the type rule of " + node.op + " refuses " + std::string(tensor::nameOf(m_target))
                            + ", but " + m_assignment.entry(id) + " asks for it",
                        "an operator that takes this type there");
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
Result<void> Converter::visitWidest(NodeId id)
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

void Converter::readWidest(NodeId id)
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
        m_result.notes.push_back({id, "its type rule refuses 16 bit; kept in float32"});
        side = Side::Fp32;
        readAll(id, side);
    }
    commit(id);
    placeAll(id, side);
}

void Converter::readAll(NodeId id, Side side)
{
    m_inputs.clear();
    const auto inputs = m_source.inputs(id);
    for (std::uint32_t i = 0; i < inputs.size(); ++i)
        m_inputs.push_back(as(inputs[i], side, {id, i}));
}

void Converter::readRaw(NodeId id)
{
    m_inputs.clear();
    for (const Entry &entry : m_source.inputs(id))
        m_inputs.push_back(m_casts.raw(entry));
}

/// What a neutral operator believes of its first input: the type of the value that it really reads, as far as
/// MXNet would know it.
DType Converter::belief(const Entry &entry) const
{
    if (m_casts.isNative(entry, Side::Target))
        return m_target;
    if (m_casts.isNative(entry, Side::Fp32))
        return DType::F32;
    // MXNet goes by casts made for other readers as well. Of float32 that is harmless where the raw value has
    // that type anyway.
    const bool isFp32 = m_casts.has(entry, Side::Fp32) && m_result.types.of(m_casts.raw(entry)) == DType::F32;
    return isFp32 && !m_casts.has(entry, Side::Target) ? DType::F32 : DType::Unknown;
}

/// M-neutral.
void Converter::visitNeutral(NodeId id)
{
    readRaw(id);
    const auto inputs = m_source.inputs(id);
    const DType believed = inputs.empty() ? DType::Unknown : belief(inputs[0]);
    const TypeOutcome asked = believed == DType::Unknown ? TypeOutcome::Incomplete : believe(id, believed);
    m_believedOut = m_out;
    TypeOutcome real = evaluate(id);
    if (real == TypeOutcome::Refused && readsOnlyOpen()) {
        real = TypeOutcome::Incomplete; // it only wants to know more, as behind a body
    } else if (real == TypeOutcome::Refused) {
        if (mendNeutral(id, believed))
            return;
        real = evaluate(id);
    }
    if (asked == TypeOutcome::Refused) // the rule wants to know more inputs than the first; now it does
        m_believedOut = m_out;
    commit(id, real);
    if (believed != DType::Unknown && asked != TypeOutcome::Incomplete)
        placeOutputs(id, m_believedOut);
}

/// The raw inputs of a neutral operator do not go together. True when the node was added in another way;
/// false: `m_inputs` was put right.
bool Converter::mendNeutral(NodeId id, DType believed)
{
    if (believed == m_target || believed == DType::Unknown) {
        castParametersToTarget(id);
        if (evaluate(id) != TypeOutcome::Refused)
            return false;
    }
    const auto inputs = m_source.inputs(id);
    bool anyFp32 = false;
    bool anyTarget = false;
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        const DType type = m_result.types.of(m_casts.raw(inputs[i]));
        anyFp32 |= type == DType::F32 && !isMutable(id, i);
        anyTarget |= type == m_target;
        if (isParameter(inputs[i]) && type == m_target)
            m_storage.refuseTarget(inputs[i].node);
    }
    const bool mixed = anyFp32 && anyTarget;
    const char *what = mixed ? "its inputs have different types; treated as widest"
                             : "its type rule refuses 16 bit; kept in float32";
    m_result.notes.push_back({id, what});
    if (mixed && !(opOf(id) != nullptr && opOf(id)->hasMutableInputs())) {
        readWidest(id);
        return true;
    }
    readFp32(id, false);
    commit(id);
    placeAll(id, Side::Fp32);
    return true;
}

/// Parameters that a neutral operator wants in the type of its 16-bit data get a cast: their storage changes
/// only when asked.
void Converter::castParametersToTarget(NodeId id)
{
    if (opOf(id) == nullptr)
        return;
    const auto inputs = m_source.inputs(id);
    m_in.clear();
    for (const Entry &entry : inputs)
        m_in.push_back(isParameter(entry) ? DType::Unknown : m_result.types.of(m_casts.raw(entry)));
    m_out.assign(outputCount(id), DType::Unknown);
    if (opOf(id)->typeRule(m_source.node(id).attributes).apply(m_in, m_out) == TypeOutcome::Refused)
        return;
    const std::vector<DType> wanted = m_in;
    for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        if (isParameter(inputs[i]) && wanted[i] == m_target && m_storage.typeOf(inputs[i].node) == DType::F32
            && !isMutable(id, i))
            m_inputs[i] = as(inputs[i], Side::Target, {id, i});
    }
}

/// Are the types of all that the node at hand reads open?
bool Converter::readsOnlyOpen() const
{
    return std::ranges::all_of(
        m_inputs, [this](const Entry &entry) { return m_result.types.of(entry) == DType::Unknown; });
}

/// The node's type rule on the types of `m_inputs`, into m_in and m_out.
TypeOutcome Converter::evaluate(NodeId id)
{
    m_in.clear();
    for (const Entry &entry : m_inputs)
        m_in.push_back(m_result.types.of(entry));
    m_out.assign(outputCount(id), DType::Unknown);
    if (opOf(id) == nullptr)
        return TypeOutcome::Incomplete;
    if (dialect::roleOf(m_source, id) == dialect::NodeRole::ControlFlow) // whose bodies tell
        return m_rules.apply(id, m_in, m_out);
    return opOf(id)->typeRule(m_source.node(id).attributes).apply(m_in, m_out);
}

/// The node's type rule with the first input's type alone, as MXNet's pass asks it, into m_in and m_out.
TypeOutcome Converter::believe(NodeId id, DType first)
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
void Converter::commit(NodeId id, TypeOutcome outcome)
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

void Converter::placeOutputs(NodeId id, std::span<const DType> types)
{
    const std::size_t slots = std::min<std::size_t>(types.size(), m_rules.referencedOutputs(id));
    for (std::uint32_t k = 0; k < slots; ++k) {
        if (types[k] == m_target)
            m_casts.setNative({id, k, 0}, Side::Target);
        else if (types[k] == DType::F32)
            m_casts.setNative({id, k, 0}, Side::Fp32);
    }
}

void Converter::placeAll(NodeId id, Side side)
{
    for (std::uint32_t k = 0; k < m_rules.referencedOutputs(id); ++k)
        m_casts.setNative({id, k, 0}, side);
}

void Converter::addHeads()
{
    std::vector<Entry> heads;
    for (std::uint32_t k = 0; k < m_source.heads().size(); ++k)
        heads.push_back(as(m_source.heads()[k], Side::Fp32, {rewrite::kNoNode, k}));
    m_result.graph.setHeads(std::move(heads));
}

} // namespace

Result<rewrite::Conversion> convertMxnet(const graph::Graph &source, const policy::Assignment &assignment,
                                         std::span<const infer::Variable> variables,
                                         const MxnetSettings &settings, const Progress &progress)
{
    const std::vector<NodeId> order = graph::postOrder(source);
    ParameterStorage storage(variables, settings.target, settings.castParams);
    while (true) {
        Converter converter(source, assignment, storage, settings.target);
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
