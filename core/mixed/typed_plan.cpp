#include "core/mixed/typed_plan.h"

#include "core/dialect/calls.h"
#include "core/dialect/dialect.h"
#include "core/dialect/raised_parts.h"
#include "core/graph/traverse.h"
#include "core/mixed/chosen_types.h"
#include "core/mixed/original_types.h"
#include "core/mixed/resolve_values.h"

#include <algorithm>
#include <optional>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using ops::TypeOutcome;
using policy::Request;
using tensor::DType;

constexpr const char *kRefusesHalf = "does not support 16 bit; kept in float32";
constexpr const char *kBodyDecides
    = "its body is converted by the lists; the operator itself has no precision";
constexpr const char *kBodyStays = "its body is unchanged";
constexpr const char *kMixedInputs = "its inputs have different types; treated as widest";

class Planner
{
public:
    Planner(const graph::Graph &source, const infer::NodeTypes &rules, const policy::Assignment &assignment,
            std::span<const infer::Variable> variables, const PlanSettings &settings, TypedPlan &plan)
        : m_source(source)
        , m_rules(rules)
        , m_assignment(assignment)
        , m_variables(variables)
        , m_settings(settings)
        , m_target(settings.target)
        , m_plan(plan)
        , m_readsShapes(source.operatorNames().size())
    {
    }

    Result<void> run(const Progress &progress);

private:
    void noteLowered();
    Result<void> decide(NodeId id);
    Result<void> decideFlow(NodeId id);
    void decideHeads();

    void gather(NodeId id);
    void asTarget(NodeId id);
    void asInputs(NodeId id, bool widest);
    bool differ() const;
    void asFp32(NodeId id);
    bool seeded(NodeId id, int seed);
    bool follow(NodeId id);
    void asTvmFollows(NodeId id);
    bool canComeLow(NodeId id, std::size_t input) const;
    bool accept(NodeId id, bool mayBeOpen = false);
    void keepOriginal(NodeId id);
    bool opensMutable(NodeId id) const;
    bool readsShapes(NodeId id);
    bool isConstant(NodeId id) const
    {
        return m_settings.constants != nullptr && (*m_settings.constants)[id];
    }

    const graph::Graph &m_source;
    const infer::NodeTypes &m_rules;
    const policy::Assignment &m_assignment;
    std::span<const infer::Variable> m_variables;
    const PlanSettings &m_settings;
    DType m_target;
    TypedPlan &m_plan;
    std::vector<std::optional<bool>> m_readsShapes; ///< by OpIndex, as far as asked
    std::vector<bool> m_lowered; ///< by output: an operator of the target list reads it
    // Scratch of the node at hand, kept for its capacity.
    std::vector<DType> m_native, m_original; ///< of its inputs
    std::vector<bool> m_isParameter;
    std::vector<DType> m_in, m_out, m_wanted;
};

Result<void> Planner::run(const Progress &progress)
{
    constexpr std::size_t kBetweenLooks = 4096;
    m_plan.notes.clear();
    m_plan.headReads.clear();
    m_plan.moved.clear();
    m_plan.choices.clear();
    noteLowered();
    const std::vector<NodeId> &order = m_plan.order;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k % kBetweenLooks == 0) {
            HALFTONE_CHECK(progress.checkStop());
            progress.tell(static_cast<double>(k) / static_cast<double>(order.size()), "deciding types");
        }
        if (!m_source.isVariable(order[k]))
            HALFTONE_CHECK(decide(order[k]));
    }
    decideHeads();
    return {};
}

/// Notes what the target list reads.
void Planner::noteLowered()
{
    m_lowered.assign(m_plan.value.size(), false);
    for (const NodeId id : m_plan.order) {
        if (m_assignment.requested(id) != Request::Target)
            continue;
        for (const Entry &entry : m_source.inputs(id))
            m_lowered[m_plan.output(m_plan.valueOf(entry))] = true;
    }
}

void Planner::gather(NodeId id)
{
    m_native.clear();
    m_original.clear();
    m_isParameter.clear();
    for (const Entry &entry : m_source.inputs(id)) {
        const Entry &value = m_plan.valueOf(entry);
        m_native.push_back(m_plan.native[m_plan.output(value)]);
        m_original.push_back(m_plan.original[m_plan.output(entry)]);
        m_isParameter.push_back(m_source.isVariable(value.node) ? !m_variables[value.node].isData
                                                                : isConstant(value.node));
    }
}

Result<void> Planner::decideFlow(NodeId id)
{
    const Request request = m_assignment.requested(id);
    if (request == Request::Target || request == Request::Fp32)
        m_plan.notes.push_back({id, request == Request::Target ? kBodyDecides : kBodyStays});
    bool isDecided = false;
    if (m_settings.flows != nullptr) {
        HALFTONE_TRY(isDecided, m_settings.flows->decide(id));
    }
    if (!isDecided) {
        gather(id);
        keepOriginal(id);
    }
    return {};
}

Result<void> Planner::decide(NodeId id)
{
    const Request request = m_assignment.requested(id);
    const bool isAsked = request == Request::Target || request == Request::Fp32 || request == Request::Widest;
    if (isControlFlow(m_source, id) && !(isAsked && dialect::isCall(m_source, id)))
        return decideFlow(id);
    gather(id);
    if (m_settings.kept != nullptr && (*m_settings.kept)[id]) {
        keepOriginal(id);
        return {};
    }
    if (request == Request::Follow && readsShapes(id)) {
        keepOriginal(id);
        for (std::size_t i = 0; i < m_in.size(); ++i)
            if (rewrite::isCastable(m_native[i]))
                m_plan.reads[m_plan.firstInput[id] + i] = DType::Unknown;
        return {};
    }
    switch (request) {
    case Request::Fp32:
    case Request::Int8:
        asFp32(id);
        return {};
    case Request::Target:
        asTarget(id);
        return {};
    case Request::Widest:
        if (m_settings.mode != policy::Mode::Tvm) {
            asInputs(id, true);
            return {};
        }
        break;
    case Request::Follow:
    case Request::Nothing:
        break;
    }
    if (m_rules.op(id) == nullptr)
        keepOriginal(id); // nobody knows what it would make of another type
    else if (m_settings.mode == policy::Mode::Tvm)
        asTvmFollows(id);
    else
        asInputs(id, false);
    return {};
}

/// A shape is the same in every type: nothing is cast for it.
bool Planner::readsShapes(NodeId id)
{
    std::optional<bool> &known = m_readsShapes[m_source.opOf(id)];
    if (!known)
        known = readsShapeAlone(m_source, id);
    return *known;
}

/// Takes the types in m_in as those that the node reads, if its rule is content with them.
bool Planner::accept(NodeId id, bool mayBeOpen)
{
    const std::uint32_t firstOutput = m_plan.firstOutput[id];
    const std::uint32_t outputs = m_rules.outputCount(id);
    m_wanted = m_in;
    if (m_in == m_original) {
        m_out.assign(m_plan.original.begin() + firstOutput, m_plan.original.begin() + firstOutput + outputs);
    } else {
        m_out.assign(outputs, DType::Unknown);
        const TypeOutcome outcome = applyChosen(m_source, m_rules, id, m_in, m_out);
        const bool isOpen = mayBeOpen || m_rules.op(id) == nullptr
            || std::ranges::find(m_native, DType::Unknown) != m_native.end();
        if (outcome == TypeOutcome::Refused || (outcome == TypeOutcome::Incomplete && !isOpen))
            return false;
    }
    for (std::size_t i = 0; i < m_wanted.size(); ++i) {
        const bool mayCast = rewrite::isCastable(m_native[i]) || m_native[i] == DType::Unknown;
        m_plan.reads[m_plan.firstInput[id] + i] = mayCast ? m_wanted[i] : m_native[i];
    }
    std::ranges::copy(m_out, m_plan.native.begin() + firstOutput);
    return true;
}

/// The types of the source graph, which go together.
void Planner::keepOriginal(NodeId id)
{
    m_in = m_original;
    accept(id, true);
}

void Planner::asFp32(NodeId id)
{
    m_in = m_native;
    for (DType &type : m_in) {
        if (rewrite::isCastable(type))
            type = DType::F32;
    }
    if (!accept(id))
        keepOriginal(id);
}

bool Planner::opensMutable(NodeId id) const
{
    for (std::size_t i = 0; i < m_in.size(); ++i) {
        if (m_in[i] == m_target && m_in[i] != m_native[i] && m_rules.isMutable(id, i))
            return true;
    }
    return false;
}

/// Completes the node's types with the target type on its first output (seed 0), on its first float input (1), or on all
/// float inputs (2), and takes them.
bool Planner::seeded(NodeId id, int seed)
{
    m_in = m_native;
    m_out.assign(m_rules.outputCount(id), DType::Unknown);
    bool isFirst = true;
    for (DType &type : m_in) {
        if (!rewrite::isCastable(type))
            continue;
        type = seed == 2 || (seed == 1 && isFirst) ? m_target : DType::Unknown;
        isFirst = false;
    }
    if (seed == 0)
        m_out[0] = m_target;
    if (applyChosen(m_source, m_rules, id, m_in, m_out) == TypeOutcome::Refused)
        return false;
    bool lowers = false;
    for (std::size_t i = 0; i < m_in.size(); ++i) {
        if (m_in[i] == DType::Unknown || (m_in[i] != m_native[i] && !rewrite::isCastable(m_native[i])))
            m_in[i] = m_native[i]; // no business of the rule
        lowers |= m_in[i] == m_target;
    }
    return lowers && !opensMutable(id) && accept(id);
}

void Planner::asTarget(NodeId id)
{
    if (m_rules.op(id) == nullptr && m_source.node(id).subgraphs.empty()) {
        m_in = m_native;
        for (DType &type : m_in) {
            if (rewrite::isCastable(type) || type == DType::Unknown)
                type = m_target;
        }
        accept(id, true);
        return;
    }
    const bool makesFloat = rewrite::isCastable(m_plan.original[m_plan.firstOutput[id]]);
    for (int seed = makesFloat ? 0 : 1; seed <= 2; ++seed) {
        if (seeded(id, seed))
            return;
    }
    const bool hasFloats = std::ranges::any_of(m_native, rewrite::isCastable);
    if (hasFloats || m_assignment.rule(id) != policy::Rule::Everything)
        m_plan.notes.push_back(
            {id, hasFloats ? kRefusesHalf : "16 bit requested, but no input is floating-point"});
    asFp32(id);
}

/// The float inputs that are no parameters have the target type; the rule says what the parameters need to have.
bool Planner::follow(NodeId id)
{
    bool anyLow = false;
    const auto inputs = m_source.inputs(id);
    m_in = m_native;
    for (std::size_t i = 0; i < m_in.size(); ++i) {
        if (!rewrite::isCastable(m_native[i]))
            continue;
        if (m_isParameter[i]) {
            m_in[i] = DType::Unknown;
            continue;
        }
        anyLow |= m_native[i] == m_target;
        if (m_native[i] != m_target && !m_lowered[m_plan.output(m_plan.valueOf(inputs[i]))])
            return false;
        m_in[i] = m_target;
    }
    m_out.assign(m_rules.outputCount(id), DType::Unknown);
    if (!anyLow || applyChosen(m_source, m_rules, id, m_in, m_out) == TypeOutcome::Refused)
        return false;
    for (std::size_t i = 0; i < m_in.size(); ++i) {
        if (m_in[i] == DType::Unknown)
            m_in[i] = m_native[i];
    }
    return !opensMutable(id) && accept(id);
}

/// A value that is there in the target type, or a variable or constant, which TVM casts for free.
bool Planner::canComeLow(NodeId id, std::size_t input) const
{
    const Entry &value = m_plan.valueOf(m_source.inputs(id)[input]);
    return m_native[input] == m_target || m_source.inputs(value.node).empty();
}

/// In the target type where all its floats can come so, else in float32 (M-tvm-follow).
void Planner::asTvmFollows(NodeId id)
{
    bool hasFloats = false;
    bool areLow = true;
    for (std::size_t i = 0; i < m_native.size(); ++i) {
        if (!rewrite::isCastable(m_native[i]))
            continue;
        hasFloats = true;
        areLow = areLow && canComeLow(id, i);
    }
    if (!hasFloats)
        keepOriginal(id);
    else if (areLow)
        asTarget(id);
    else
        asFp32(id);
}

/// Do the float inputs come in different types?
bool Planner::differ() const
{
    const auto first = std::ranges::find_if(m_native, rewrite::isCastable);
    return std::any_of(first, m_native.end(),
                       [first](DType type) { return rewrite::isCastable(type) && type != *first; });
}

void Planner::asInputs(NodeId id, bool widest)
{
    m_in = m_native;
    if ((!(widest && differ()) && accept(id)) || follow(id))
        return;
    bool mixed = false;
    for (std::size_t i = 0; i < m_native.size(); ++i)
        mixed |= rewrite::isCastable(m_native[i]) && m_native[i] != m_target && !m_isParameter[i];
    if (!widest || !mixed)
        m_plan.notes.push_back({id, mixed ? kMixedInputs : kRefusesHalf});
    asFp32(id);
}

void Planner::decideHeads()
{
    for (const Entry &head : m_source.heads()) {
        const DType native = m_plan.nativeOf(head);
        const DType original = m_plan.original[m_plan.output(head)];
        const bool keeps
            = m_settings.keepIoTypes && rewrite::isCastable(native) && rewrite::isCastable(original);
        m_plan.headReads.push_back(keeps ? original : DType::Unknown);
    }
}

void numberPlan(const graph::Graph &source, const infer::NodeTypes &rules,
                std::span<const infer::Variable> variables, TypedPlan &plan)
{
    std::uint32_t inputs = 0;
    std::uint32_t outputs = 0;
    plan.firstInput.reserve(source.nodeCount());
    plan.firstOutput.reserve(source.nodeCount());
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        plan.firstInput.push_back(inputs);
        plan.firstOutput.push_back(outputs);
        inputs += static_cast<std::uint32_t>(source.inputs(id).size());
        outputs += rules.outputCount(id);
    }
    plan.original.assign(outputs, DType::Unknown);
    plan.native.assign(outputs, DType::Unknown);
    plan.reads.assign(inputs, DType::Unknown);
    plan.order = graph::postOrder(source);
    plan.parts = dialect::raisedParts(source);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id))
            plan.original[plan.firstOutput[id]] = plan.native[plan.firstOutput[id]] = variables[id].type;
    }
}

} // namespace

bool isControlFlow(const graph::Graph &graph, graph::NodeId id)
{
    return !graph.node(id).subgraphs.empty() && dialect::roleOf(graph, id) != dialect::NodeRole::Fused;
}

bool readsShapeAlone(const graph::Graph &graph, graph::NodeId id)
{
    const auto op = dialect::of(graph).readKind(graph.node(id));
    return op.ok() && op.value().is<ops::ShapeOf>();
}

Result<TypedPlan> preparePlan(const graph::Graph &source, const infer::NodeTypes &rules,
                              const policy::Assignment &assignment,
                              std::span<const infer::Variable> variables, bool share)
{
    TypedPlan plan;
    numberPlan(source, rules, variables, plan);
    HALFTONE_CHECK(inferOriginals(source, rules, variables, plan));
    resolveValues(source, rules, assignment, share, plan);
    return plan;
}

Result<void> decideTypes(const graph::Graph &source, const infer::NodeTypes &rules,
                         const policy::Assignment &assignment, std::span<const infer::Variable> variables,
                         const PlanSettings &settings, const Progress &progress, TypedPlan &plan)
{
    return Planner(source, rules, assignment, variables, settings, plan).run(progress);
}

} // namespace halftone::mixed
