#include "core/mixed/cast_problem.h"

#include "core/dialect/dialect.h"
#include "core/mixed/chip_clock.h"
#include "core/mixed/retyping.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using policy::Request;
using tensor::DType;
using Choice = CastProblem::Choice;
using Term = TypeCut::Term;

constexpr Term kFixed = 0xffffffffU; ///< of a node that has no choice

Term termOf(DType type)
{
    return type == DType::F32 ? TypeCut::kFloat32 : TypeCut::kHalf;
}

/// Every tensor with those who read it.
class Reads
{
public:
    Reads(std::size_t tensors, std::span<const std::pair<std::uint32_t, Term>> reads)
        : m_first(tensors + 1, 0)
        , m_terms(reads.size())
    {
        for (const auto &[tensor, term] : reads)
            ++m_first[tensor + 1];
        std::partial_sum(m_first.begin(), m_first.end(), m_first.begin());
        std::vector<std::uint32_t> next = m_first;
        for (const auto &[tensor, term] : reads)
            m_terms[next[tensor]++] = term;
    }
    std::uint32_t first(std::uint32_t tensor) const { return m_first[tensor]; }
    std::uint32_t count(std::uint32_t tensor) const { return m_first[tensor + 1] - m_first[tensor]; }
    std::vector<Term> take() { return std::move(m_terms); }

private:
    std::vector<std::uint32_t> m_first; ///< of each tensor's readers: where they begin, and the end
    std::vector<Term> m_terms;
};

class Poser
{
public:
    Poser(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
          const CastContext &context, const TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_assignment(assignment)
        , m_context(context)
        , m_plan(plan)
        , m_retyping(source, rules, plan)
        , m_moves(source.operatorNames().size())
        , m_term(source.nodeCount(), kFixed)
    {
        if (context.clock != nullptr && context.shapes != nullptr)
            m_clock.emplace(*context.clock, source, *context.shapes);
    }

    CastProblem pose();

private:
    bool mayChange(NodeId id) const;
    Moves movesOf(NodeId id);
    void findFixedReads();
    DType typeNow(NodeId id) const;
    bool mayTake(NodeId id, DType type, DType now, Moves moves);
    bool isThereInTarget(NodeId id);
    bool readsWideParameter(NodeId id) const;
    void addChoice(NodeId id);
    /// Needs: m_term[id] is not kFixed.
    const Choice &choiceOf(NodeId id) const { return m_problem.choices[m_term[id] - CastProblem::kFirst]; }
    void weighByTime(Choice &choice) const;
    Reads reads();
    std::vector<bool> tensorsThatMatter() const;
    bool mayBeStored(NodeId node, std::uint32_t output) const;
    void addTensors();
    void requireReaders(std::uint32_t output, const CastProblem::Tensor &tensor);
    std::int64_t bytesOfCast(std::uint32_t output) const;
    bool isFused(std::uint32_t output) const;
    void setCosts();

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const policy::Assignment &m_assignment;
    const CastContext &m_context;
    const TypedPlan &m_plan;
    Retyping m_retyping; ///< of the node at hand
    std::vector<std::optional<Moves>> m_moves; ///< by OpIndex, as far as asked
    std::vector<Term> m_term; ///< by NodeId
    std::vector<bool> m_isReadHalf; ///< by output: an operator that has no choice reads it in the target type
    std::vector<bool> m_isReadOtherwise; ///< by output: in the half that is not the target
    std::vector<std::uint32_t> m_tied; ///< of the node at hand
    std::vector<Term> m_needed; ///< terms that the node at hand needs in 16 bit, to be so itself
    std::optional<ChipClock> m_clock; ///< times are weighed
    CastProblem m_problem;
};

/// No list fixes the operator's type; by time the built-in target list does not, either.
bool Poser::mayChange(NodeId id) const
{
    const Request request = m_assignment.requested(id);
    if (request != Request::Follow && request != Request::Widest
        && (!m_clock || request != Request::Target || policy::isChosen(m_assignment.nodes[id])))
        return false;
    return !m_source.isVariable(id) && !m_source.inputs(id).empty() && m_rules.op(id) != nullptr
        && !isControlFlow(m_source, id) && (m_context.kept == nullptr || !(*m_context.kept)[id]);
}

Moves Poser::movesOf(NodeId id)
{
    std::optional<Moves> &known = m_moves[m_source.opOf(id)];
    if (!known) {
        const auto op = dialect::of(m_source).readKind(m_source.node(id));
        known = op.ok() ? mixed::movesOf(op.value()) : Moves::No;
    }
    return *known;
}

void Poser::findFixedReads()
{
    m_isReadHalf.assign(m_plan.value.size(), false);
    for (const NodeId id : m_plan.order) {
        if (mayChange(id))
            continue;
        const auto inputs = m_source.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            if (m_plan.reads[m_plan.firstInput[id] + i] == m_context.target)
                m_isReadHalf[m_plan.output(m_plan.valueOf(inputs[i]))] = true;
        }
    }
}

/// Of its first float output; Unknown where that is neither float32 nor the target, or others differ: but for a T whose hidden statistics are
/// float32 either way.
DType Poser::typeNow(NodeId id) const
{
    DType type = DType::Unknown;
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const DType native = m_plan.native[m_plan.firstOutput[id] + k];
        if (!rewrite::isCastable(native))
            continue;
        if (native != DType::F32 && (native != m_context.target || type == DType::F32))
            return DType::Unknown;
        type = type == DType::Unknown ? native : type;
    }
    return type;
}

/// Is all that the operator reads there in the target type anyway? Where another choice gives it, that has to be so: m_needed.
bool Poser::isThereInTarget(NodeId id)
{
    const auto inputs = m_source.inputs(id);
    m_needed.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!rewrite::isCastable(m_plan.reads[m_plan.firstInput[id] + i]))
            continue;
        const Entry &value = m_plan.valueOf(inputs[i]);
        const std::uint32_t output = m_plan.output(value);
        if (m_isReadHalf[output] || (*m_context.isStorable)[value.node])
            continue;
        if (m_term[value.node] != kFixed)
            m_needed.push_back(m_term[value.node]);
        else if (m_plan.native[output] != m_context.target)
            return false;
    }
    return true;
}

/// A widest operator whose parameter stays float32 in storage may as well count it as the float32 that it is.
bool Poser::readsWideParameter(NodeId id) const
{
    return m_assignment.requested(id) == Request::Widest
        && std::ranges::any_of(m_source.inputs(id), [this](const Entry &entry) {
               const Entry &value = m_plan.valueOf(entry);
               return m_source.isVariable(value.node) && !(*m_context.isStorable)[value.node]
                   && m_plan.nativeOf(entry) == DType::F32;
           });
}

/// May it compute in `type`, as far as it alone is concerned?
bool Poser::mayTake(NodeId id, DType type, DType now, Moves moves)
{
    m_needed.clear();
    const bool keepsMagnitude = moves == Moves::Some || moves == Moves::All || moves == Moves::Safe;
    if (type == DType::F32 ? moves == Moves::Product && !m_clock && !readsWideParameter(id)
                           : !keepsMagnitude && !isThereInTarget(id))
        return false;
    const bool isWidest = m_assignment.requested(id) == Request::Widest;
    const bool follows = m_retyping.ask(id, type) && !(isWidest && m_retyping.isUntied());
    if (!follows
        && !(isWidest && m_retyping.askAll(id, type))) // the widest of its inputs is that of them all
        return false;
    m_tied.clear();
    for (const std::size_t i : m_retyping.tied()) {
        const DType read = m_plan.reads[m_plan.firstInput[id] + i];
        if (read == now)
            m_tied.push_back(static_cast<std::uint32_t>(i));
        else if (read != type) // what has the type anyway, such as gamma of a BatchNorm, stays
            return false;
    }
    return !m_tied.empty();
}

void Poser::addChoice(NodeId id)
{
    if (!mayChange(id))
        return;
    const DType now = typeNow(id);
    const Moves moves = movesOf(id);
    if (now == DType::Unknown || !mayTake(id, now == DType::F32 ? m_context.target : DType::F32, now, moves))
        return;
    Choice choice;
    choice.node = id;
    choice.type = now;
    choice.firstTied = static_cast<std::uint32_t>(m_problem.tied.size());
    choice.tiedCount = static_cast<std::uint32_t>(m_tied.size());
    m_problem.tied.insert(m_problem.tied.end(), m_tied.begin(), m_tied.end());
    choice.prefersHalf = (moves == Moves::All || moves == Moves::Safe
                          || (moves == Moves::Some && m_context.shapes != nullptr))
        && m_assignment.rule(id) != policy::Rule::HardwareStorage;
    weighByTime(choice);
    m_term[id] = CastProblem::kFirst + static_cast<Term>(m_problem.choices.size());
    for (const Term needed : m_needed)
        m_problem.required.emplace_back(m_term[id], needed);
    m_problem.choices.push_back(choice);
}

void Poser::weighByTime(Choice &choice) const
{
    if (!m_clock)
        return;
    choice.half = static_cast<std::int64_t>(m_clock->timeOf(choice.node, m_context.target));
    choice.float32 = static_cast<std::int64_t>(m_clock->timeOf(choice.node, DType::F32));
}

/// Tensors that choices give or read; the others cost the same whatever is chosen.
std::vector<bool> Poser::tensorsThatMatter() const
{
    std::vector<bool> matters(m_plan.value.size(), false);
    for (const Choice &choice : m_problem.choices) {
        for (const std::uint32_t i : m_problem.tiedOf(choice))
            matters[m_plan.output(m_plan.valueOf(m_source.inputs(choice.node)[i]))] = true;
        for (std::uint32_t k = 0; k < m_rules.outputCount(choice.node); ++k)
            matters[m_plan.firstOutput[choice.node] + k] = true;
    }
    return matters;
}

Reads Poser::reads()
{
    m_isReadOtherwise.assign(m_plan.value.size(), false);
    const std::vector<bool> matters = tensorsThatMatter();
    std::vector<std::pair<std::uint32_t, Term>> reads;
    const auto note = [&](const Entry &entry, DType type, Term term) {
        const std::uint32_t output = m_plan.output(m_plan.valueOf(entry));
        if (type != DType::F32 && type != m_context.target)
            m_isReadOtherwise[output] = m_isReadOtherwise[output] || rewrite::isCastable(type);
        else if (matters[output])
            reads.emplace_back(output, term);
    };
    for (const NodeId id : m_plan.order) {
        const auto inputs = m_source.inputs(id);
        std::span<const std::uint32_t> tied;
        if (m_term[id] != kFixed)
            tied = m_problem.tiedOf(choiceOf(id));
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType type = m_plan.reads[m_plan.firstInput[id] + i];
            const bool isTied = !tied.empty() && tied.front() == i;
            tied = tied.subspan(isTied ? 1 : 0);
            note(inputs[i], type, isTied ? m_term[id] : termOf(type));
        }
    }
    for (std::size_t k = 0; k < m_plan.headReads.size(); ++k)
        note(m_source.heads()[k], m_plan.headReads[k], termOf(m_plan.headReads[k]));
    return Reads(m_plan.value.size(), reads);
}

/// Those of its elements that are read, and those that are written.
std::int64_t Poser::bytesOfCast(std::uint32_t output) const
{
    constexpr std::int64_t kOfAnElement = 6; // two bytes on one side, four on the other
    const Entry &value = m_plan.value[output];
    if (m_context.shapes == nullptr || value.output >= m_context.shapes->byNode[value.node].size())
        return 0;
    const auto elements = m_context.shapes->byNode[value.node][value.output].elementCount();
    constexpr std::int64_t kMost = std::int64_t{1}
        << 44; // what is larger is nobody's tensor, and sums stay far from 2^60
    return elements ? kOfAnElement * std::min<std::int64_t>(static_cast<std::int64_t>(*elements), kMost) : 0;
}

/// What is float32 by itself becomes 16 bit only where nothing that it reaches wants float32: no value loses bits that somebody reads.
void Poser::requireReaders(std::uint32_t output, const CastProblem::Tensor &tensor)
{
    if (m_plan.native[output] != DType::F32 || m_problem.isVariable(tensor.producer)
        || tensor.producer < CastProblem::kFirst)
        return;
    for (const Term reader : m_problem.readersOf(tensor))
        m_problem.required.emplace_back(tensor.producer, reader);
}

/// May the variable come in T where all that read it want that? One that is in T already is never widened.
bool Poser::mayBeStored(NodeId node, std::uint32_t output) const
{
    return (*m_context.isStorable)[node] && m_plan.native[output] == DType::F32 && !m_isReadOtherwise[output];
}

void Poser::addTensors()
{
    Reads all = reads();
    for (std::uint32_t output = 0; output < m_plan.value.size(); ++output) {
        const DType native = m_plan.native[output];
        if (all.count(output) == 0 || (native != DType::F32 && native != m_context.target))
            continue;
        const NodeId node = m_plan.value[output].node;
        CastProblem::Tensor tensor{
            output, termOf(native), all.first(output), all.count(output), bytesOfCast(output), 0};
        if (m_term[node] != kFixed && native == choiceOf(node).type)
            tensor.producer = m_term[node];
        else if (mayBeStored(node, output))
            tensor.producer
                = CastProblem::kFirst + static_cast<Term>(m_problem.choices.size()) + m_problem.variables++;
        m_problem.tensors.push_back(tensor);
    }
    m_problem.readers = all.take();
    for (const CastProblem::Tensor &tensor : m_problem.tensors)
        requireReaders(tensor.output, tensor);
}

/// Bytes and the constant; where some size is not known, casts count.
void Poser::setCosts()
{
    const bool isKnown
        = std::ranges::all_of(m_problem.tensors, [](const auto &tensor) { return tensor.bytes > 0; });
    for (CastProblem::Tensor &tensor : m_problem.tensors)
        tensor.cost = isKnown ? kCastBytes + tensor.bytes : m_clock ? kCastBytes : 1;
    if (!m_clock)
        return;
    for (CastProblem::Tensor &tensor : m_problem.tensors)
        tensor.cost = isFused(tensor.output) ? 1 : tensor.cost;
}

/// By time: a product casts what it gives on the way, where the chip can.
bool Poser::isFused(std::uint32_t output) const
{
    const NodeId node = m_plan.value[output].node;
    return m_context.clock->fusesCasts && !m_source.isVariable(node) && m_clock->isProduct(node);
}

CastProblem Poser::pose()
{
    findFixedReads();
    for (const NodeId id : m_plan.order)
        addChoice(id);
    if (!m_problem.choices.empty()) {
        addTensors();
        setCosts();
    }
    return std::move(m_problem);
}

} // namespace

CastProblem castProblem(const graph::Graph &source, const infer::NodeTypes &rules,
                        const policy::Assignment &assignment, const CastContext &context,
                        const TypedPlan &plan)
{
    return Poser(source, rules, assignment, context, plan).pose();
}

std::vector<bool> solved(const CastProblem &problem)
{
    TypeCut cut;
    for (const Choice &choice : problem.choices) {
        const Term term = cut.addNode(choice.type != DType::F32, choice.prefersHalf);
        cut.addCosts(term, choice.half, choice.float32);
    }
    for (std::uint32_t k = 0; k < problem.variables; ++k)
        cut.addNode(false);
    for (const CastProblem::Tensor &tensor : problem.tensors)
        cut.addTensor(tensor.producer, problem.readersOf(tensor), tensor.cost);
    for (const auto &[node, other] : problem.required)
        cut.require(node, other);
    std::vector<bool> isHalf = cut.solve();
    isHalf.resize(problem.choices.size());
    return isHalf;
}

} // namespace halftone::mixed
