#include "core/mixed/cast_problem.h"

#include "core/dialect/dialect.h"
#include "core/mixed/chip_clock.h"
#include "core/mixed/retyping.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

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

/// Poses the part of one graph, and has those of its bodies posed.
class ProblemBuilder
{
public:
    /// `count`: how many graphs were met before; this one and its bodies are added.
    ProblemBuilder(const TypedLevel &level, const CastContext &context, CastProblem &problem,
                   std::uint32_t &count)
        : m_level(level)
        , m_source(*level.graph)
        , m_rules(level.rules)
        , m_assignment(*level.assignment)
        , m_context(context)
        , m_plan(level.plan)
        , m_number(count++)
        , m_retyping(m_source, m_rules, m_plan)
        , m_moves(m_source.operatorNames().size())
        , m_term(m_source.nodeCount(), kFixed)
        , m_termOfOutput(m_plan.value.size(), kFixed)
        , m_matters(m_plan.value.size(), false)
        , m_termOfHead(m_plan.headReads.size(), kFixed)
        , m_isHandedWide(m_plan.value.size(), false)
        , m_problem(problem)
    {
        if (context.clock != nullptr && level.shapes != nullptr)
            m_clock.emplace(*context.clock, m_source, *level.shapes);
        for (const TypedFlow &flow : level.flows) {
            Flow &ours = m_flows.emplace_back(Flow{&flow, {}, {}});
            for (const TypedLevel &body : flow.bodies)
                ours.bodies.push_back(std::make_unique<ProblemBuilder>(body, context, problem, count));
        }
    }

    void findFixedReads();
    void addChoices();
    void addTensors();

private:
    /// Control flow, the terms of its ports, and its bodies.
    struct Flow
    {
        const TypedFlow *flow;
        std::vector<Term> terms;
        std::vector<std::unique_ptr<ProblemBuilder>> bodies;
    };

    bool mayChange(NodeId id) const;
    void noteFixedRead(const Entry &entry, bool isHalf);
    void noteBodyReads(const Flow &flow, std::size_t input);
    Moves movesOf(NodeId id);
    DType typeNow(NodeId id) const;
    bool mayTake(NodeId id, DType type, DType now, Moves moves);
    bool isThereInTarget(NodeId id);
    bool isWide(const Entry &value) const;
    bool readsWideParameter(NodeId id) const;
    void addChoice(NodeId id);
    void addFlow(Flow &flow);
    Term addPort(const TypedFlow &flow, std::uint32_t port);
    /// Needs: m_term[id] is not kFixed.
    const Choice &choiceOf(NodeId id) const { return m_problem.choices[m_term[id] - CastProblem::kFirst]; }
    void weighByTime(Choice &choice) const;
    void readsOf(NodeId id, const Flow *flow, std::vector<std::pair<std::uint32_t, Term>> &reads);
    Reads reads();
    bool mayBeStored(NodeId node, std::uint32_t output) const;
    void addOwnTensors();
    void requireReaders(const CastProblem::Tensor &tensor);
    std::int64_t bytesOfCast(std::uint32_t output) const;
    bool isFused(std::uint32_t output) const;

    const TypedLevel &m_level;
    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const policy::Assignment &m_assignment;
    const CastContext &m_context;
    const TypedPlan &m_plan;
    std::uint32_t m_number; ///< of the graph
    Retyping m_retyping; ///< of the node at hand
    std::vector<std::optional<Moves>> m_moves; ///< by OpIndex, as far as asked
    std::vector<Term> m_term; ///< by NodeId
    std::vector<Term> m_termOfOutput; ///< by output
    std::vector<bool>
        m_matters; ///< by output: choices give or read it; the others cost the same whatever is chosen
    std::vector<Term> m_termOfHead; ///< of the ports that heads of a body give
    std::vector<bool> m_isHandedWide; ///< by output: a variable of a body that stands for one that isWide()
    std::vector<bool> m_isReadHalf; ///< by output: an operator that has no choice reads it in the target type
    std::vector<bool> m_isReadElse; ///< by output: somebody else reads it
    std::vector<bool> m_isReadOtherwise; ///< by output: in the half that is not the target
    std::vector<std::uint32_t> m_tied; ///< of the node at hand
    std::vector<Term> m_needed; ///< terms that the node at hand needs in 16 bit, to be so itself
    std::optional<ChipClock> m_clock; ///< times are weighed
    std::vector<Flow> m_flows; ///< in the order of the plan
    CastProblem &m_problem;
};

/// No list fixes the operator's type; by time the built-in target list does not, either.
bool ProblemBuilder::mayChange(NodeId id) const
{
    if (!m_context.operatorsChoose)
        return false;
    const Request request = m_assignment.requested(id);
    if (request != Request::Follow && request != Request::Widest
        && (!m_clock || request != Request::Target || policy::isChosen(m_assignment.nodes[id])))
        return false;
    return !m_source.isVariable(id) && !m_source.inputs(id).empty() && m_rules.op(id) != nullptr
        && !isControlFlow(m_source, id) && (m_level.kept.empty() || !m_level.kept[id]);
}

/// Of a part of an operator of an older version what that operator does (M-raised).
Moves ProblemBuilder::movesOf(NodeId id)
{
    id = m_plan.parts[id];
    std::optional<Moves> &known = m_moves[m_source.opOf(id)];
    if (!known) {
        const auto op = dialect::of(m_source).readKind(m_source.node(id));
        known = op.ok() ? mixed::movesOf(op.value()) : Moves::No;
    }
    return *known;
}

void ProblemBuilder::noteFixedRead(const Entry &entry, bool isHalf)
{
    (isHalf ? m_isReadHalf : m_isReadElse)[m_plan.output(m_plan.valueOf(entry))] = true;
}

/// What bodies read the value as that they are handed: where that is the target type alone, without a choice, it is cast around them.
void ProblemBuilder::noteBodyReads(const Flow &flow, std::size_t input)
{
    bool isHalf = false;
    bool isElse = false;
    for (std::size_t b = 0; b < flow.bodies.size(); ++b)
        for (const infer::BoundBody::Tie &tie : flow.flow->binding.bodies[b].ties) {
            if (tie.input != input)
                continue;
            const ProblemBuilder &body = *flow.bodies[b];
            const std::uint32_t output = body.m_plan.firstOutput[tie.variable];
            isHalf = isHalf || body.m_isReadHalf[output];
            isElse = isElse || body.m_isReadElse[output];
        }
    if (isHalf || isElse)
        noteFixedRead(m_source.inputs(flow.flow->node)[input], !isElse);
}

void ProblemBuilder::findFixedReads()
{
    m_isReadHalf.assign(m_plan.value.size(), false);
    m_isReadElse.assign(m_plan.value.size(), false);
    for (Flow &flow : m_flows)
        for (auto &body : flow.bodies)
            body->findFixedReads();
    auto next = m_flows.begin();
    for (const NodeId id : m_plan.order) {
        const bool isFlow = next != m_flows.end() && next->flow->node == id;
        const bool mayBeOther = mayChange(id);
        const auto inputs = m_source.inputs(id);
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const DType type = m_plan.reads[m_plan.firstInput[id] + i];
            if (isFlow && next->flow->ports[next->flow->inputPort[i]].mayChoose)
                noteBodyReads(*next, i);
            else if (type != DType::Unknown) // who reads a shape alone takes any type
                noteFixedRead(inputs[i], !mayBeOther && type == m_context.target);
        }
        next += isFlow ? 1 : 0;
    }
    for (const Entry &head : m_source.heads())
        noteFixedRead(head, false);
}

/// Of its first float output; Unknown where that is neither float32 nor the target, or others differ: but for a T whose hidden statistics are
/// float32 either way.
DType ProblemBuilder::typeNow(NodeId id) const
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
bool ProblemBuilder::isThereInTarget(NodeId id)
{
    const auto inputs = m_source.inputs(id);
    m_needed.clear();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!rewrite::isCastable(m_plan.reads[m_plan.firstInput[id] + i]))
            continue;
        const Entry &value = m_plan.valueOf(inputs[i]);
        const std::uint32_t output = m_plan.output(value);
        if (m_isReadHalf[output] || m_level.storable[value.node])
            continue;
        if (m_termOfOutput[output] != kFixed)
            m_needed.push_back(m_termOfOutput[output]);
        else if (m_term[value.node] != kFixed)
            m_needed.push_back(m_term[value.node]);
        else if (m_plan.native[output] != m_context.target)
            return false;
    }
    return true;
}

/// A variable of the whole graph that stays float32 in storage, also where a body is handed it.
bool ProblemBuilder::isWide(const Entry &value) const
{
    const std::uint32_t output = m_plan.output(value);
    if (!m_source.isVariable(value.node) || m_level.storable[value.node])
        return false;
    return m_termOfOutput[output] == kFixed ? m_plan.native[output] == DType::F32 : m_isHandedWide[output];
}

/// A widest operator whose parameter stays float32 in storage may as well count it as the float32 that it is.
bool ProblemBuilder::readsWideParameter(NodeId id) const
{
    return m_assignment.requested(id) == Request::Widest
        && std::ranges::any_of(m_source.inputs(id),
                               [this](const Entry &entry) { return isWide(m_plan.valueOf(entry)); });
}

/// May it compute in `type`, as far as it alone is concerned?
bool ProblemBuilder::mayTake(NodeId id, DType type, DType now, Moves moves)
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

void ProblemBuilder::addChoice(NodeId id)
{
    if (!mayChange(id))
        return;
    const DType now = typeNow(id);
    const Moves moves = movesOf(id);
    if (now == DType::Unknown || !mayTake(id, now == DType::F32 ? m_context.target : DType::F32, now, moves))
        return;
    Choice choice;
    choice.level = m_number;
    choice.node = id;
    choice.type = now;
    choice.firstTied = static_cast<std::uint32_t>(m_problem.tied.size());
    choice.tiedCount = static_cast<std::uint32_t>(m_tied.size());
    m_problem.tied.insert(m_problem.tied.end(), m_tied.begin(), m_tied.end());
    choice.prefersHalf
        = (moves == Moves::All || moves == Moves::Safe || (moves == Moves::Some && m_level.shapes != nullptr))
        && m_assignment.rule(id) != policy::Rule::HardwareStorage;
    weighByTime(choice);
    m_term[id] = CastProblem::kFirst + static_cast<Term>(m_problem.choices.size());
    for (const Term needed : m_needed)
        m_problem.required.emplace_back(m_term[id], needed);
    m_problem.choices.push_back(choice);
    for (const std::uint32_t i : m_tied)
        m_matters[m_plan.output(m_plan.valueOf(m_source.inputs(id)[i]))] = true;
    for (std::uint32_t k = 0; k < m_rules.outputCount(id); ++k) {
        const std::uint32_t output = m_plan.firstOutput[id] + k;
        m_matters[output] = true;
        if (m_plan.native[output] == now)
            m_termOfOutput[output] = m_term[id];
    }
}

/// What has been summed up in float32 stays that: a sum of 16 bit takes no more on from some size on.
Term ProblemBuilder::addPort(const TypedFlow &flow, std::uint32_t port)
{
    const FlowPort &given = flow.ports[port];
    const bool isHeld = given.isRunningSum && given.type == DType::F32;
    if (!given.mayChoose || isHeld || (given.type != DType::F32 && given.type != m_context.target))
        return kFixed;
    Choice choice;
    choice.level = m_number;
    choice.node = flow.node;
    choice.port = port;
    choice.type = given.type;
    choice.prefersHalf = true;
    m_problem.choices.push_back(choice);
    return CastProblem::kFirst + static_cast<Term>(m_problem.choices.size() - 1);
}

void ProblemBuilder::addFlow(Flow &flow)
{
    const TypedFlow &given = *flow.flow;
    for (std::uint32_t port = 0; port < given.ports.size(); ++port)
        flow.terms.push_back(addPort(given, port));
    const auto inputs = m_source.inputs(given.node);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (flow.terms[given.inputPort[i]] != kFixed)
            m_matters[m_plan.output(m_plan.valueOf(inputs[i]))] = true;
    for (std::size_t k = 0; k < given.outputPort.size(); ++k) {
        const std::uint32_t output = m_plan.firstOutput[given.node] + static_cast<std::uint32_t>(k);
        if (given.outputPort[k] == TypedFlow::kNoPort || flow.terms[given.outputPort[k]] == kFixed)
            continue;
        m_termOfOutput[output] = flow.terms[given.outputPort[k]];
        m_matters[output] = true;
    }
    for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
        ProblemBuilder &body = *flow.bodies[b];
        for (const infer::BoundBody::Tie &tie : given.binding.bodies[b].ties) {
            const Term term = flow.terms[given.inputPort[tie.input]];
            const std::uint32_t output = body.m_plan.firstOutput[tie.variable];
            body.m_termOfOutput[output] = term;
            body.m_matters[output] = term != kFixed;
            body.m_isHandedWide[output] = isWide(m_plan.valueOf(inputs[tie.input]));
        }
        for (std::size_t k = 0; k < body.m_termOfHead.size(); ++k) {
            const std::uint32_t port = given.portOfHead(b, k);
            if (port == TypedFlow::kNoPort || flow.terms[port] == kFixed)
                continue;
            body.m_termOfHead[k] = flow.terms[port];
            body.m_matters[body.m_plan.output(body.m_plan.valueOf(body.m_source.heads()[k]))] = true;
        }
        body.addChoices();
    }
}

void ProblemBuilder::addChoices()
{
    auto next = m_flows.begin();
    for (const NodeId id : m_plan.order) {
        if (next != m_flows.end() && next->flow->node == id)
            addFlow(*next++);
        else
            addChoice(id);
    }
}

void ProblemBuilder::weighByTime(Choice &choice) const
{
    if (!m_clock)
        return;
    choice.half = static_cast<std::int64_t>(m_clock->timeOf(choice.node, m_context.target));
    choice.float32 = static_cast<std::int64_t>(m_clock->timeOf(choice.node, DType::F32));
}

void ProblemBuilder::readsOf(NodeId id, const Flow *flow, std::vector<std::pair<std::uint32_t, Term>> &reads)
{
    const auto inputs = m_source.inputs(id);
    std::span<const std::uint32_t> tied;
    if (m_term[id] != kFixed)
        tied = m_problem.tiedOf(choiceOf(id));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType type = m_plan.reads[m_plan.firstInput[id] + i];
        const bool isTied = !tied.empty() && tied.front() == i;
        tied = tied.subspan(isTied ? 1 : 0);
        const Term port = flow == nullptr ? kFixed : flow->terms[flow->flow->inputPort[i]];
        const std::uint32_t output = m_plan.output(m_plan.valueOf(inputs[i]));
        if (type != DType::F32 && type != m_context.target)
            m_isReadOtherwise[output] = m_isReadOtherwise[output] || rewrite::isCastable(type);
        else if (m_matters[output])
            reads.emplace_back(output, isTied ? m_term[id] : port != kFixed ? port : termOf(type));
    }
}

Reads ProblemBuilder::reads()
{
    m_isReadOtherwise.assign(m_plan.value.size(), false);
    std::vector<std::pair<std::uint32_t, Term>> reads;
    auto next = m_flows.begin();
    for (const NodeId id : m_plan.order) {
        const bool isFlow = next != m_flows.end() && next->flow->node == id;
        readsOf(id, isFlow ? &*next : nullptr, reads);
        next += isFlow ? 1 : 0;
    }
    for (std::size_t k = 0; k < m_plan.headReads.size(); ++k) {
        const DType type = m_plan.headReads[k];
        const std::uint32_t output = m_plan.output(m_plan.valueOf(m_source.heads()[k]));
        if (type != DType::F32 && type != m_context.target)
            m_isReadOtherwise[output] = m_isReadOtherwise[output] || rewrite::isCastable(type);
        else if (m_matters[output])
            reads.emplace_back(output, m_termOfHead[k] != kFixed ? m_termOfHead[k] : termOf(type));
    }
    return Reads(m_plan.value.size(), reads);
}

/// Those of its elements that are read, and those that are written.
std::int64_t ProblemBuilder::bytesOfCast(std::uint32_t output) const
{
    constexpr std::int64_t kOfAnElement = 6; // two bytes on one side, four on the other
    const Entry &value = m_plan.value[output];
    if (m_level.shapes == nullptr || value.output >= m_level.shapes->byNode[value.node].size())
        return 0;
    const auto elements = m_level.shapes->byNode[value.node][value.output].elementCount();
    constexpr std::int64_t kMost = std::int64_t{1}
        << 44; // what is larger is nobody's tensor, and sums stay far from 2^60
    return elements ? kOfAnElement * std::min<std::int64_t>(static_cast<std::int64_t>(*elements), kMost) : 0;
}

/// What is float32 by itself becomes 16 bit only where nothing that it reaches wants float32: no value loses bits that somebody reads.
void ProblemBuilder::requireReaders(const CastProblem::Tensor &tensor)
{
    if (m_plan.native[tensor.output] != DType::F32 || m_problem.isVariable(tensor.producer)
        || tensor.producer < CastProblem::kFirst)
        return;
    for (const Term reader : m_problem.readersOf(tensor))
        m_problem.required.emplace_back(tensor.producer, reader);
}

/// May the variable come in T where all that read it want that? One that is in T already is never widened.
bool ProblemBuilder::mayBeStored(NodeId node, std::uint32_t output) const
{
    return m_level.storable[node] && m_plan.native[output] == DType::F32 && !m_isReadOtherwise[output];
}

/// Needs: all choices are there.
void ProblemBuilder::addTensors()
{
    addOwnTensors();
    for (Flow &flow : m_flows)
        for (auto &body : flow.bodies)
            body->addTensors();
}

void ProblemBuilder::addOwnTensors()
{
    Reads all = reads();
    const auto firstReader = static_cast<std::uint32_t>(m_problem.readers.size());
    const std::size_t first = m_problem.tensors.size();
    for (std::uint32_t output = 0; output < m_plan.value.size(); ++output) {
        const DType native = m_plan.native[output];
        if (all.count(output) == 0 || (native != DType::F32 && native != m_context.target))
            continue;
        CastProblem::Tensor tensor{m_number,          output,
                                   termOf(native),    firstReader + all.first(output),
                                   all.count(output), bytesOfCast(output)};
        if (m_termOfOutput[output] != kFixed)
            tensor.producer = m_termOfOutput[output];
        else if (mayBeStored(m_plan.value[output].node, output))
            tensor.producer
                = CastProblem::kFirst + static_cast<Term>(m_problem.choices.size()) + m_problem.variables++;
        tensor.loops = static_cast<std::uint32_t>(m_level.loops);
        tensor.isFused = m_clock && isFused(output);
        m_problem.tensors.push_back(tensor);
    }
    const std::vector<Term> readers = all.take();
    m_problem.readers.insert(m_problem.readers.end(), readers.begin(), readers.end());
    for (std::size_t k = first; k < m_problem.tensors.size(); ++k)
        requireReaders(m_problem.tensors[k]);
}

/// By time: a product casts what it gives on the way, where the chip can.
bool ProblemBuilder::isFused(std::uint32_t output) const
{
    const NodeId node = m_plan.value[output].node;
    return m_context.clock->fusesCasts && !m_source.isVariable(node) && m_clock->isProduct(node);
}

/// Bytes and the constant; where some size is not known, casts count. Of casts that cost the same the one outside of a loop is the cheaper.
void setCosts(CastProblem &problem, bool byTime)
{
    constexpr std::int64_t kFarMore = std::int64_t{1} << 20; // than there are casts in loops
    const bool isKnown
        = std::ranges::all_of(problem.tensors, [](const auto &tensor) { return tensor.bytes > 0; });
    const bool isRepeated
        = std::ranges::any_of(problem.tensors, [](const auto &tensor) { return tensor.loops > 0; });
    const std::int64_t one = byTime ? kCastBytes : isRepeated ? kFarMore : 1;
    for (CastProblem::Tensor &tensor : problem.tensors)
        tensor.cost = (tensor.isFused ? 1 : isKnown ? kCastBytes + tensor.bytes : one) + tensor.loops;
}

} // namespace

CastProblem castProblem(const TypedLevel &root, const CastContext &context)
{
    CastProblem problem;
    std::uint32_t graphs = 0;
    ProblemBuilder builder(root, context, problem, graphs);
    builder.findFixedReads();
    builder.addChoices();
    if (problem.choices.empty())
        return problem;
    builder.addTensors();
    setCosts(problem, context.clock != nullptr && root.shapes != nullptr);
    return problem;
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
