#include "core/mixed/move_casts.h"

#include "core/dialect/dialect.h"
#include "core/mixed/type_cut.h"
#include "core/ops/numerics.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using tensor::DType;

/// What an operator does to the number of elements.
enum class Moves : std::uint8_t
{
    Product, ///< none: it multiplies matrices, and gains from the target type by itself
    No, ///< none: it computes otherwise
    Safe, ///< likewise, and gives numbers no larger than a small multiple of those that it reads
    Some, ///< drops or repeats elements
    All, ///< every output element is an input element and the other way round
};

template <class T, class... Ts>
inline constexpr bool kIsAmong = (std::is_same_v<T, Ts> || ...);

Moves movesOf(const ops::Operator &op)
{
    const ops::NumericalClass kind = ops::numericalClass(op);
    if (kind != ops::NumericalClass::DataMovement)
        return kind == ops::NumericalClass::MatrixProduct  ? Moves::Product
            : kind == ops::NumericalClass::ElementwiseSafe ? Moves::Safe
                                                           : Moves::No;
    return ops::visit(
        []<class T>(const T &) {
            constexpr bool kKeepsAll
                = kIsAmong<T, ops::Unary, ops::Reshape, ops::Flatten, ops::ExpandDims, ops::Squeeze,
                           ops::Transpose, ops::SwapAxes, ops::Reverse, ops::ReshapeLike, ops::DepthToSpace,
                           ops::SpaceToDepth, ops::Concat, ops::Stack, ops::Split>;
            return kKeepsAll ? Moves::All : Moves::Some;
        },
        op);
}

/// Casts and the bytes that they and an operator read and write.
struct Cost
{
    std::int64_t casts = 0;
    double bytes = 0;
};

class CastMover
{
public:
    CastMover(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
              const CastContext &context, TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_assignment(assignment)
        , m_context(context)
        , m_plan(plan)
        , m_counts(source, plan, context.target)
    {
        m_moves.assign(source.operatorNames().size(), std::nullopt);
        m_seen.assign(plan.value.size(), 0);
        m_changed.assign(source.nodeCount(), false);
    }

    void run()
    {
        cut();
        for (auto id = m_plan.order.rbegin(); id != m_plan.order.rend(); ++id) {
            if (mayChange(*id))
                consider(*id);
        }
        std::erase_if(m_plan.notes, [this](const rewrite::NodeNote &note) { return m_changed[note.node]; });
    }

private:
    /// A node that may compute in the one type or the other.
    struct Free
    {
        NodeId id;
        DType type; ///< now
        std::vector<std::size_t> tied;
        TypeCut::Term term = 0;
    };

    void cut();
    std::optional<Free> freeNode(NodeId id);
    void addTensors(TypeCut &cut, const std::vector<Free> &free);
    bool mayChange(NodeId id);
    void consider(NodeId id);
    DType wantedType(NodeId id) const;
    bool retype(NodeId id, DType type);
    enum class Seed
    {
        Outputs,
        FirstInput,
        OnlyFirstInput
    };
    bool retypeFrom(NodeId id, DType type, Seed seed);
    bool measure(NodeId id);
    bool hasAllInTarget(NodeId id) const;
    bool change(NodeId id, DType type, bool forBytes);
    std::optional<double> elementsOf(const Entry &value) const;
    Cost costOfCasts(std::uint32_t output, DType native, const ReadCounts::Counts &counts,
                     double elements) const;
    Cost costNow(NodeId id);
    void apply(NodeId id, DType type);

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const policy::Assignment &m_assignment;
    const CastContext &m_context;
    TypedPlan &m_plan;
    ReadCounts m_counts;
    std::vector<std::optional<Moves>> m_moves; ///< by OpIndex
    std::vector<bool> m_changed; ///< by NodeId
    // Of the node at hand.
    std::vector<DType> m_in, m_out;
    std::vector<std::size_t> m_tied; ///< inputs that have the type of the outputs
    bool m_isUntied = false; ///< some float input is not among them: a condition, an index
    std::vector<double> m_inElements, m_outElements;
    std::vector<std::uint32_t> m_seen; ///< by output: the round in which its casts were counted
    std::uint32_t m_round = 0;
};

/// Operators whose type no list fixes.
bool CastMover::mayChange(NodeId id)
{
    if (m_source.isVariable(id) || m_source.inputs(id).empty() || m_rules.op(id) == nullptr
        || isControlFlow(m_source, id))
        return false;
    std::optional<Moves> &moves = m_moves[m_source.opOf(id)];
    if (!moves) {
        const auto op = dialect::of(m_source).readKind(m_source.node(id));
        moves = op.ok() ? movesOf(op.value()) : Moves::No;
    }
    const policy::Request request = m_assignment.requested(id);
    return request == policy::Request::Follow || request == policy::Request::Widest;
}

/// The one type that all readers of the node's floats want, when they come in another one; else Unknown.
DType CastMover::wantedType(NodeId id) const
{
    ReadCounts::Counts sum;
    DType native = DType::Unknown;
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const std::uint32_t output = m_plan.firstOutput[id] + k;
        if (!rewrite::isCastable(m_plan.native[output]))
            continue;
        native = m_plan.native[output];
        sum.fp32 += m_counts[output].fp32;
        sum.target += m_counts[output].target;
        sum.other += m_counts[output].other;
    }
    if (sum.other > 0 || (sum.fp32 > 0) == (sum.target > 0))
        return DType::Unknown;
    const DType wanted = sum.target > 0 ? m_context.target : DType::F32;
    return wanted == native ? DType::Unknown : wanted;
}

/// Finds the inputs that must have `type` for the outputs to have it; false when the rule has it otherwise. Leaves the
/// node's types in m_in and m_out.
bool CastMover::retype(NodeId id, DType type)
{
    return retypeFrom(id, type, Seed::Outputs) || retypeFrom(id, type, Seed::FirstInput)
        || retypeFrom(id, type, Seed::OnlyFirstInput);
}

/// Asks the rule from the outputs backward; for rules that don't give inputs from outputs, from the first float input on;
/// for those that want to know all inputs, with the others as they are.
bool CastMover::retypeFrom(NodeId id, DType type, Seed seed)
{
    const auto inputs = m_source.inputs(id);
    const std::uint32_t firstInput = m_plan.firstInput[id];
    const std::uint32_t firstOutput = m_plan.firstOutput[id];
    std::vector<DType> wanted;
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const DType native = m_plan.native[firstOutput + k];
        wanted.push_back(rewrite::isCastable(native) ? type : native);
    }
    m_in.clear();
    bool isFirst = seed != Seed::Outputs;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType read = m_plan.reads[firstInput + i];
        if (!rewrite::isCastable(read))
            m_in.push_back(read);
        else if (std::exchange(isFirst, false))
            m_in.push_back(type);
        else
            m_in.push_back(seed == Seed::OnlyFirstInput ? read : DType::Unknown);
    }
    m_out = seed == Seed::Outputs ? wanted : std::vector<DType>(wanted.size(), DType::Unknown);
    if (m_rules.apply(id, m_in, m_out) == TypeOutcome::Refused)
        return false;
    m_tied.clear();
    m_isUntied = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType read = m_plan.reads[firstInput + i];
        if (rewrite::isCastable(read) && m_in[i] == type) {
            if (!rewrite::isCastable(m_plan.nativeOf(inputs[i])) || m_rules.isMutable(id, i))
                return false;
            m_tied.push_back(i);
        } else {
            m_isUntied |= rewrite::isCastable(read);
            m_in[i] = read;
        }
    }
    m_out.assign(wanted.size(), DType::Unknown);
    return !m_tied.empty() && m_rules.apply(id, m_in, m_out) == TypeOutcome::Complete && m_out == wanted;
}

std::optional<double> CastMover::elementsOf(const Entry &value) const
{
    if (m_context.shapes == nullptr)
        return std::nullopt;
    const auto &outputs = m_context.shapes->byNode[value.node];
    if (value.output >= outputs.size() || !outputs[value.output].hasRank())
        return std::nullopt;
    double elements = 1;
    for (const std::int64_t dim : outputs[value.output].dims()) {
        if (dim < 0)
            return std::nullopt;
        elements *= static_cast<double>(dim);
    }
    return elements;
}

/// Sizes of the data moved; false when they are not known.
bool CastMover::measure(NodeId id)
{
    m_inElements.clear();
    m_outElements.clear();
    bool isKnown = true;
    for (const std::size_t i : m_tied) {
        const auto elements = elementsOf(m_plan.valueOf(m_source.inputs(id)[i]));
        isKnown &= elements.has_value();
        m_inElements.push_back(elements.value_or(0));
    }
    for (std::uint32_t k = 0; k < m_out.size(); ++k) {
        const auto elements = elementsOf({id, k, 0});
        isKnown &= elements.has_value() || !rewrite::isCastable(m_out[k]);
        m_outElements.push_back(elements.value_or(0));
    }
    if (isKnown)
        return true;
    if (m_moves[m_source.opOf(id)] != Moves::All)
        return false;
    // In any unit will do: what goes in comes out, in equal parts.
    std::ranges::fill(m_inElements, 1.0 / static_cast<double>(m_inElements.size()));
    std::ranges::fill(m_outElements, 1.0 / static_cast<double>(m_outElements.size()));
    return true;
}

Cost CastMover::costOfCasts(std::uint32_t output, DType native, const ReadCounts::Counts &counts,
                            double elements) const
{
    const NodeId node = m_plan.value[output].node;
    if (m_source.isVariable(node) && (*m_context.isStorable)[node] && counts.fp32 + counts.other == 0)
        return {};
    Cost cost;
    const auto add = [&](DType type, std::uint32_t readers) {
        if (readers == 0 || type == native)
            return;
        ++cost.casts;
        cost.bytes += elements * static_cast<double>(tensor::sizeOf(native) + tensor::sizeOf(type));
    };
    add(DType::F32, counts.fp32);
    add(m_context.target, counts.target);
    cost.casts += counts.other > 0 ? 1 : 0; // the same before and after
    return cost;
}

/// The node's own traffic and all casts of what it reads and writes.
Cost CastMover::costNow(NodeId id)
{
    Cost cost;
    const auto inputs = m_source.inputs(id);
    ++m_round;
    for (std::size_t k = 0; k < m_tied.size(); ++k) {
        const std::uint32_t output = m_plan.output(m_plan.valueOf(inputs[m_tied[k]]));
        cost.bytes += m_inElements[k]
            * static_cast<double>(tensor::sizeOf(m_plan.reads[m_plan.firstInput[id] + m_tied[k]]));
        if (std::exchange(m_seen[output], m_round) == m_round)
            continue; // one input twice: its casts are shared
        const Cost casts = costOfCasts(output, m_plan.native[output], m_counts[output], m_inElements[k]);
        cost.casts += casts.casts;
        cost.bytes += casts.bytes;
    }
    for (std::uint32_t k = 0; k < m_outElements.size(); ++k) {
        const std::uint32_t output = m_plan.firstOutput[id] + k;
        if (!rewrite::isCastable(m_plan.native[output]))
            continue;
        const Cost casts = costOfCasts(output, m_plan.native[output], m_counts[output], m_outElements[k]);
        cost.casts += casts.casts;
        cost.bytes
            += casts.bytes + m_outElements[k] * static_cast<double>(tensor::sizeOf(m_plan.native[output]));
    }
    return cost;
}

void CastMover::apply(NodeId id, DType type)
{
    const auto inputs = m_source.inputs(id);
    for (const std::size_t i : m_tied) {
        DType &read = m_plan.reads[m_plan.firstInput[id] + i];
        ReadCounts::Counts &counts = m_counts[m_plan.output(m_plan.valueOf(inputs[i]))];
        --counts.of(read, m_context.target);
        read = type;
        ++counts.of(read, m_context.target);
    }
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        DType &native = m_plan.native[m_plan.firstOutput[id] + k];
        if (rewrite::isCastable(native))
            native = type;
    }
}

/// May the node compute in the other type, as far as it alone is concerned?
std::optional<CastMover::Free> CastMover::freeNode(NodeId id)
{
    if (!mayChange(id))
        return std::nullopt;
    DType type = DType::Unknown;
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const DType native = m_plan.native[m_plan.firstOutput[id] + k];
        if (!rewrite::isCastable(native))
            continue;
        if ((native != DType::F32 && native != m_context.target)
            || (type != DType::Unknown && native != type))
            return std::nullopt;
        type = native;
    }
    const Moves moves = *m_moves[m_source.opOf(id)];
    const bool isMover = moves == Moves::Some || moves == Moves::All;
    const bool mayCompute = moves == Moves::Safe || (moves == Moves::No && type == m_context.target);
    if (type == DType::Unknown || !(isMover || mayCompute)
        || !retype(id, type == DType::F32 ? m_context.target : DType::F32)
        || (m_isUntied && m_assignment.requested(id) == policy::Request::Widest))
        return std::nullopt;
    for (const std::size_t i : m_tied)
        if (m_plan.reads[m_plan.firstInput[id] + i] != type)
            return std::nullopt;
    return Free{id, type, m_tied};
}

/// Every tensor with what it comes from and what reads it. What is float32 by itself may become 16 bit only where nothing that it
/// reaches wants float32: no value loses bits that somebody reads.
void CastMover::addTensors(TypeCut &cut, const std::vector<Free> &free)
{
    std::vector<const Free *> byNode(m_source.nodeCount(), nullptr);
    for (const Free &node : free)
        byNode[node.id] = &node;
    const auto termOf
        = [this](DType type) { return type == DType::F32 ? TypeCut::kFloat32 : TypeCut::kHalf; };
    // What no node that is free gives or reads costs the same however they are.
    std::vector<bool> matters(m_plan.value.size(), false);
    for (const Free &node : free) {
        for (const std::size_t i : node.tied)
            matters[m_plan.output(m_plan.valueOf(m_source.inputs(node.id)[i]))] = true;
        for (std::uint32_t k = 0; k < m_rules.outputCount(node.id); ++k)
            matters[m_plan.firstOutput[node.id] + k] = true;
    }
    std::vector<std::vector<TypeCut::Term>> readers(m_plan.value.size());
    const auto note = [&](const Entry &entry, DType type, TypeCut::Term term) {
        const std::uint32_t output = m_plan.output(m_plan.valueOf(entry));
        if (matters[output] && (type == DType::F32 || type == m_context.target))
            readers[output].push_back(term);
    };
    for (const NodeId id : m_plan.order) {
        const auto inputs = m_source.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType type = m_plan.reads[m_plan.firstInput[id] + i];
            const bool isTied
                = byNode[id] != nullptr && std::ranges::find(byNode[id]->tied, i) != byNode[id]->tied.end();
            note(inputs[i], type, isTied ? byNode[id]->term : termOf(type));
        }
    }
    for (std::size_t k = 0; k < m_plan.headReads.size(); ++k)
        note(m_source.heads()[k], m_plan.headReads[k], termOf(m_plan.headReads[k]));
    for (std::uint32_t output = 0; output < readers.size(); ++output) {
        const NodeId node = m_plan.value[output].node;
        const DType native = m_plan.native[output];
        if (readers[output].empty() || (native != DType::F32 && native != m_context.target))
            continue;
        const bool isStorable = m_source.isVariable(node) && (*m_context.isStorable)[node];
        const Free *const producer = byNode[node];
        cut.addTensor(producer         ? producer->term
                          : isStorable ? cut.addNode(false)
                                       : termOf(native),
                      readers[output]);
        for (const TypeCut::Term reader : readers[output])
            if (producer != nullptr && producer->type == DType::F32)
                cut.require(producer->term, reader);
    }
}

/// The fewest casts for all neutral and widest operators together, of which each alone might be worse off than now.
void CastMover::cut()
{
    TypeCut cut;
    std::vector<Free> free;
    for (const NodeId id : m_plan.order) {
        if (auto node = freeNode(id)) {
            node->term = cut.addNode(node->type != DType::F32);
            free.push_back(std::move(*node));
        }
    }
    if (free.empty())
        return;
    addTensors(cut, free);
    const std::vector<bool> isHalf = cut.solve();
    for (std::size_t k = 0; k < free.size(); ++k) {
        if (isHalf[k] == (free[k].type != DType::F32))
            continue;
        const DType type = isHalf[k] ? m_context.target : DType::F32;
        m_tied = free[k].tied;
        apply(free[k].id, type);
        m_plan.moved.push_back({free[k].id, type});
        m_changed[free[k].id] = true;
    }
}

void CastMover::consider(NodeId id)
{
    const DType wanted = wantedType(id);
    if (wanted == DType::Unknown || !retype(id, wanted))
        return;
    // An operator asked for its widest input takes all of them into account, also those that are no data.
    const bool isWidest = m_assignment.requested(id) == policy::Request::Widest;
    const Moves moves = m_moves[m_source.opOf(id)].value_or(Moves::No);
    const bool isMover = moves == Moves::Some || moves == Moves::All;
    if (isMover && !(isWidest && m_isUntied) && measure(id) && change(id, wanted, true))
        return;
    if (wanted == DType::F32 ? moves == Moves::No || moves == Moves::Safe : hasAllInTarget(id)) {
        m_inElements.assign(m_tied.size(), 0); // sizes play no part
        m_outElements.assign(m_out.size(), 0);
        change(id, wanted, false);
    }
}

/// Gives the node's data the type if that is better: fewer bytes and no more casts, or fewer casts.
bool CastMover::change(NodeId id, DType type, bool forBytes)
{
    const DType before = m_plan.reads[m_plan.firstInput[id] + m_tied.front()];
    const bool isUniform = std::ranges::all_of(
        m_tied, [&](std::size_t i) { return m_plan.reads[m_plan.firstInput[id] + i] == before; });
    if (!isUniform)
        return false;
    const Cost costBefore = costNow(id);
    apply(id, type);
    const Cost costAfter = costNow(id);
    const bool isBetter = forBytes ? costAfter.casts <= costBefore.casts && costAfter.bytes < costBefore.bytes
                                   : costAfter.casts < costBefore.casts;
    if (!isBetter) {
        apply(id, before);
        return false;
    }
    m_plan.moved.push_back({id, type});
    m_changed[id] = true;
    return true;
}

/// Is what the node reads there in the target type anyway, or stored in it? Of a widest operator all floats count.
bool CastMover::hasAllInTarget(NodeId id) const
{
    const auto inputs = m_source.inputs(id);
    const auto isThere = [&](std::size_t i) {
        const Entry &value = m_plan.valueOf(inputs[i]);
        const std::uint32_t output = m_plan.output(value);
        const bool isStorable = m_source.isVariable(value.node) && (*m_context.isStorable)[value.node];
        return m_plan.native[output] == m_context.target || m_counts[output].target > 0 || isStorable;
    };
    if (m_assignment.requested(id) != policy::Request::Widest)
        return std::ranges::all_of(m_tied, isThere);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (rewrite::isCastable(m_plan.reads[m_plan.firstInput[id] + i]) && !isThere(i))
            return false;
    }
    return true;
}

} // namespace

void moveCasts(const graph::Graph &source, const infer::NodeTypes &rules,
               const policy::Assignment &assignment, const CastContext &context, TypedPlan &plan)
{
    CastMover(source, rules, assignment, context, plan).run();
}

} // namespace halftone::mixed
