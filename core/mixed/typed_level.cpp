#include "core/mixed/typed_level.h"

#include "core/dialect/dialect.h"
#include "core/infer/lists.h"
#include "core/mixed/held_constants.h"

#include <algorithm>
#include <utility>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::NodeId;
using infer::BodyBinding;
using infer::BoundBody;
using Kind = ops::ControlFlow::Kind;
using tensor::DType;

/// The states of MXNet's foreach have no names in its binding.
std::vector<BodyBinding::Carried> carriedOf(const BodyBinding &binding, const ops::ControlFlow &flow)
{
    std::vector<BodyBinding::Carried> carried = binding.carried;
    if (flow.kind != Kind::ForEach)
        return carried;
    const auto stacked = static_cast<std::size_t>(std::max<std::int64_t>(flow.dataOutputs, 0));
    for (std::size_t k = 0; k < flow.stateLocations.size(); ++k)
        carried.push_back({flow.dataLocations.size() + k, stacked + k});
    return carried;
}

bool isLoop(Kind kind)
{
    return kind != Kind::Cond && kind != Kind::Call;
}

/// Finds the ports of one node and whether they are bound to a type.
class PortFinder
{
public:
    PortFinder(const TypedLevel &level, const ops::ControlFlow &control, const TypedSettings &settings,
               TypedFlow &flow)
        : m_level(level)
        , m_graph(*level.graph)
        , m_control(control)
        , m_target(settings.target)
        , m_mode(settings.mode)
        , m_flow(flow)
    {
    }

    void find()
    {
        m_flow.carried = carriedOf(m_flow.binding, m_control);
        const auto inputs = m_graph.inputs(m_flow.node);
        for (std::size_t i = 0; i < inputs.size(); ++i)
            m_flow.inputPort.push_back(add(m_level.plan.original[m_level.plan.output(inputs[i])]));
        const std::uint32_t outputs = m_level.rules.outputCount(m_flow.node);
        m_flow.outputPort.assign(outputs, TypedFlow::kNoPort);
        for (const BodyBinding::Carried &carried : m_flow.carried)
            if (carried.output < outputs && carried.input < inputs.size())
                m_flow.outputPort[carried.output] = m_flow.inputPort[carried.input];
        for (std::uint32_t k = 0; k < outputs; ++k)
            if (m_flow.outputPort[k] == TypedFlow::kNoPort && isGiven(k))
                m_flow.outputPort[k] = add(m_level.plan.original[m_level.plan.firstOutput[m_flow.node] + k]);
        bindLists();
        bindOtherHalf();
        if (m_mode == policy::Mode::Tvm)
            bindForTvm();
        findRunningSums();
    }

private:
    std::uint32_t add(DType original)
    {
        m_flow.ports.push_back({original, original, rewrite::isCastable(original)});
        return static_cast<std::uint32_t>(m_flow.ports.size() - 1);
    }
    void bind(std::uint32_t port)
    {
        if (port != TypedFlow::kNoPort)
            m_flow.ports[port].isFree = false;
    }
    bool isGiven(std::size_t output) const
    {
        return std::ranges::any_of(m_flow.binding.bodies, [output](const BoundBody &body) {
            return body.role == BoundBody::Role::Result && output < body.outputCount();
        });
    }

    void bindLists();
    void bindOtherHalf();
    void bindForTvm();
    void findRunningSums();
    bool isRunningSum(std::size_t body, const BodyBinding::Carried &carried) const;

    const TypedLevel &m_level;
    const graph::Graph &m_graph;
    const ops::ControlFlow &m_control;
    DType m_target;
    policy::Mode m_mode;
    TypedFlow &m_flow;
};

/// Nothing casts a list or an optional value.
void PortFinder::bindLists()
{
    for (std::size_t i = 0; i < m_flow.inputPort.size(); ++i)
        if (infer::isNoTensor(m_graph, m_flow.node, i))
            bind(m_flow.inputPort[i]);
    for (std::uint32_t k = 0; k < m_flow.outputPort.size(); ++k)
        if (infer::isNoTensor(m_graph, Entry{m_flow.node, k, 0}))
            bind(m_flow.outputPort[k]);
    for (const BoundBody &body : m_flow.binding.bodies) {
        std::vector<std::uint32_t> portOf(body.graph->nodeCount(), TypedFlow::kNoPort);
        for (const BoundBody::Tie &tie : body.ties)
            portOf[tie.variable] = m_flow.inputPort[tie.input];
        for (NodeId id = 0; id < body.graph->nodeCount(); ++id)
            for (std::size_t i = 0; i < body.graph->inputs(id).size(); ++i) {
                const std::uint32_t port = portOf[body.graph->inputs(id)[i].node];
                if (port != TypedFlow::kNoPort && infer::isNoTensor(*body.graph, id, i))
                    bind(port);
            }
    }
}

/// What is in the 16-bit type that is not asked for stays in it.
void PortFinder::bindOtherHalf()
{
    for (FlowPort &port : m_flow.ports)
        if (port.original != DType::F32 && port.original != m_target)
            port.isFree = false;
}

/// Mode tvm only casts outside what comes in: what is the same in every step, or comes in the target type anyway.
void PortFinder::bindForTvm()
{
    for (const std::uint32_t port : m_flow.outputPort)
        bind(port);
    for (const BodyBinding::Carried &carried : m_flow.carried)
        bind(m_flow.inputPort[carried.input]);
    for (const BoundBody &body : m_flow.binding.bodies)
        for (const BoundBody::Tie &tie : body.ties)
            m_flow.ports[m_flow.inputPort[tie.input]].isBoundHigh |= tie.sliced;
}

void PortFinder::findRunningSums()
{
    if (!isLoop(m_control.kind))
        return;
    for (std::size_t b = 0; b < m_flow.bodies.size(); ++b)
        for (const BodyBinding::Carried &carried : m_flow.carried)
            if (m_flow.binding.bodies[b].role == BoundBody::Role::Result && isRunningSum(b, carried))
                m_flow.ports[m_flow.inputPort[carried.input]].isRunningSum = true;
}

/// Does `id` read `variable`, by whatever way?
bool dependsOn(const TypedLevel &level, NodeId id, NodeId variable)
{
    std::vector<bool> isSeen(level.graph->nodeCount(), false);
    std::vector<NodeId> pending{id};
    while (!pending.empty()) {
        const NodeId at = pending.back();
        pending.pop_back();
        if (at == variable)
            return true;
        if (isSeen[at])
            continue;
        isSeen[at] = true;
        for (const Entry &entry : level.graph->inputs(at))
            pending.push_back(entry.node);
    }
    return false;
}

/// What the state becomes is itself and something that it has no part in: x + y or x - y.
bool PortFinder::isRunningSum(std::size_t body, const BodyBinding::Carried &carried) const
{
    const BoundBody &bound = m_flow.binding.bodies[body];
    const TypedLevel &inside = m_flow.bodies[body];
    const std::size_t head = bound.firstHead + carried.output;
    if (head >= inside.graph->heads().size())
        return false;
    const NodeId sum = inside.plan.valueOf(inside.graph->heads()[head]).node;
    if (inside.graph->isVariable(sum))
        return false;
    const auto op = dialect::of(*inside.graph).readKind(inside.graph->node(sum));
    const auto *const binary = op.ok() ? op.value().getIf<ops::Binary>() : nullptr;
    if (binary == nullptr || (binary->kind != ops::BinaryKind::Add && binary->kind != ops::BinaryKind::Sub)
        || inside.graph->inputs(sum).size() != 2)
        return false;
    const NodeId a = inside.plan.valueOf(inside.graph->inputs(sum)[0]).node;
    const NodeId b = inside.plan.valueOf(inside.graph->inputs(sum)[1]).node;
    return std::ranges::any_of(bound.ties, [&](const BoundBody::Tie &tie) {
        return tie.input == carried.input
            && ((tie.variable == a && !dependsOn(inside, b, tie.variable))
                || (tie.variable == b && !dependsOn(inside, a, tie.variable)));
    });
}

class LevelMaker
{
public:
    explicit LevelMaker(const TypedSettings &settings)
        : m_settings(settings)
    {
    }

    Result<void> make(TypedLevel &level) const;

private:
    Result<void> addFlow(TypedLevel &level, NodeId id) const;
    Result<TypedLevel> makeBody(const TypedLevel &level, const TypedFlow &flow, const BoundBody &body,
                                bool isRepeated) const;

    const TypedSettings &m_settings;
};

/// Needs: graph, assignment and variables of the level.
Result<void> LevelMaker::make(TypedLevel &level) const
{
    level.constants = realConstants(*level.graph);
    HALFTONE_TRY(
        level.plan,
        preparePlan(*level.graph, level.rules, *level.assignment, level.variables, m_settings.share));
    if (!m_settings.assignBody)
        return {};
    for (const NodeId id : level.plan.order)
        if (isControlFlow(*level.graph, id) && level.assignment->requested(id) != policy::Request::Fp32)
            HALFTONE_CHECK(addFlow(level, id));
    return {};
}

/// Where the bodies are not converted, says why.
Result<void> LevelMaker::addFlow(TypedLevel &level, NodeId id) const
{
    HALFTONE_TRY(const ops::Operator op, dialect::of(*level.graph).read(level.graph->node(id)));
    const auto *const control = op.getIf<ops::ControlFlow>();
    if (control != nullptr && control->kind == Kind::Call)
        return {}; // typed as one operator
    if (level.depth >= infer::kMaxBodyDepth) {
        level.flowNotes.push_back({id, "its body is nested too deeply and stays unchanged"});
        return {};
    }
    TypedFlow flow;
    flow.node = id;
    HALFTONE_TRY(flow.binding, infer::bindBodies(*level.graph, id, level.rules.outputCount(id)));
    if (control == nullptr || flow.binding.bodies.empty()) {
        level.flowNotes.push_back({id, "its body is not analysed and stays unchanged"});
        return {};
    }
    for (const BoundBody &body : flow.binding.bodies) {
        HALFTONE_TRY(TypedLevel inside, makeBody(level, flow, body, isLoop(control->kind)));
        flow.bodies.push_back(std::move(inside));
    }
    PortFinder(level, *control, m_settings, flow).find();
    level.flows.push_back(std::move(flow));
    return {};
}

Result<TypedLevel> LevelMaker::makeBody(const TypedLevel &level, const TypedFlow &flow, const BoundBody &body,
                                        bool isRepeated) const
{
    TypedLevel inside(*body.graph, level.depth + 1);
    inside.loops = level.loops + (isRepeated ? 1 : 0);
    inside.assignment = std::make_shared<const policy::Assignment>(m_settings.assignBody(*body.graph));
    inside.variables.assign(body.graph->nodeCount(), infer::Variable{true, DType::F32, true});
    const auto inputs = level.graph->inputs(flow.node);
    for (const BoundBody::Tie &tie : body.ties)
        inside.variables[tie.variable]
            = {true, level.plan.original[level.plan.output(inputs[tie.input])], false};
    for (const BoundBody::Given &given : body.given)
        inside.variables[given.variable] = {true, given.isStep ? DType::I64 : DType::Bool, false};
    HALFTONE_CHECK(make(inside));
    return inside;
}

class LevelDecider final : public FlowDecider
{
public:
    LevelDecider(TypedLevel &level, const TypedSettings &settings, const Progress &progress)
        : m_level(level)
        , m_settings(settings)
        , m_progress(progress)
    {
    }

    Result<bool> decide(NodeId id) override;

private:
    bool isParameter(const Entry &entry) const;
    void comeIn(TypedFlow &flow) const;
    void handIn(TypedFlow &flow, bool isFirst) const;
    bool takeStates(TypedFlow &flow, int round) const;
    DType stateOf(const TypedFlow &flow, const BodyBinding::Carried &carried) const;
    void takeOutputs(TypedFlow &flow) const;
    DType givenType(const TypedFlow &flow, std::size_t output) const;

    TypedLevel &m_level;
    const TypedSettings &m_settings;
    const Progress &m_progress;
    std::size_t m_next = 0; ///< of the level's flows: that of the next node
};

Result<bool> LevelDecider::decide(NodeId id)
{
    if (m_next >= m_level.flows.size() || m_level.flows[m_next].node != id)
        return false;
    constexpr int kMostRounds = 6; // each gives up states that do not hold; then all that are left
    TypedFlow &flow = m_level.flows[m_next++];
    comeIn(flow);
    for (int round = 0;; ++round) {
        handIn(flow, round == 0);
        for (TypedLevel &body : flow.bodies)
            HALFTONE_CHECK(decideLevels(body, m_settings, {m_progress.stop, {}}));
        if (!takeStates(flow, std::min(round, kMostRounds)))
            break;
    }
    takeOutputs(flow);
    applyPorts(m_level, flow);
    return true;
}

/// Parameters and constants follow what they are read with.
bool LevelDecider::isParameter(const Entry &entry) const
{
    const NodeId node = m_level.plan.valueOf(entry).node;
    return m_level.graph->isVariable(node) ? !m_level.variables[node].isData : m_level.constants[node];
}

/// The node's inputs as they come.
void LevelDecider::comeIn(TypedFlow &flow) const
{
    const auto inputs = m_level.graph->inputs(flow.node);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        FlowPort &port = flow.ports[flow.inputPort[i]];
        const DType native = m_level.plan.nativeOf(inputs[i]);
        port.mayChoose = port.isFree && rewrite::isCastable(native)
            && (!port.isBoundHigh || native == m_settings.target);
        port.type = port.mayChoose && m_settings.mode != policy::Mode::Tvm ? native : port.original;
    }
}

/// isFirst  the first step: what a loop then carries has been made by none before and follows, as parameters do
void LevelDecider::handIn(TypedFlow &flow, bool isFirst) const
{
    const auto inputs = m_level.graph->inputs(flow.node);
    for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
        TypedLevel &body = flow.bodies[b];
        for (const BoundBody::Tie &tie : flow.binding.bodies[b].ties) {
            const FlowPort &port = flow.ports[flow.inputPort[tie.input]];
            const bool isState = std::ranges::find(flow.carried, tie.input, &BodyBinding::Carried::input)
                != flow.carried.end();
            body.plan.native[body.plan.firstOutput[tie.variable]] = port.type;
            body.variables[tie.variable].isData = isState ? !isFirst || port.isRunningSum || !port.mayChoose
                                                          : !isParameter(inputs[tie.input]);
        }
    }
}

/// What the body makes of a state.
DType LevelDecider::stateOf(const TypedFlow &flow, const BodyBinding::Carried &carried) const
{
    for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
        const BoundBody &body = flow.binding.bodies[b];
        const std::size_t head = body.firstHead + carried.output;
        if (body.role == BoundBody::Role::Result && head < body.graph->heads().size())
            return flow.bodies[b].plan.nativeOf(body.graph->heads()[head]);
    }
    return DType::Unknown;
}

/// After the first step states are what that made; from the second on those that are not what they were are float32. True when some
/// body has to be decided anew.
bool LevelDecider::takeStates(TypedFlow &flow, int round) const
{
    constexpr int kEnough = 5;
    bool isChanged = false;
    for (const BodyBinding::Carried &carried : flow.carried) {
        FlowPort &port = flow.ports[flow.inputPort[carried.input]];
        if (!port.mayChoose)
            continue;
        const DType made = stateOf(flow, carried);
        const DType now = port.type;
        if (round == 0 && rewrite::isCastable(made))
            port.type = made;
        else if (made != now || round >= kEnough)
            port.type = DType::F32;
        isChanged |= port.type != now || round == 0;
    }
    return isChanged;
}

/// Of all bodies that may give it: float32 where they differ. Parameters and constants follow.
DType LevelDecider::givenType(const TypedFlow &flow, std::size_t output) const
{
    DType all = DType::Unknown;
    DType following = DType::Unknown;
    for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
        const BoundBody &body = flow.binding.bodies[b];
        const std::size_t head = body.firstHead + output;
        if (body.role != BoundBody::Role::Result || head >= body.graph->heads().size())
            continue;
        const TypedLevel &inside = flow.bodies[b];
        const Entry &value = inside.plan.valueOf(body.graph->heads()[head]);
        const DType native = inside.plan.native[inside.plan.output(value)];
        if (!rewrite::isCastable(native))
            return DType::Unknown;
        const bool follows = body.graph->isVariable(value.node) ? !inside.variables[value.node].isData
                                                                : inside.constants[value.node];
        DType &type = follows ? following : all;
        type = type == DType::Unknown || type == native ? native : DType::F32;
    }
    return all == DType::Unknown ? following : all;
}

void LevelDecider::takeOutputs(TypedFlow &flow) const
{
    std::vector<bool> isCarried(flow.outputPort.size(), false);
    for (const BodyBinding::Carried &carried : flow.carried)
        if (carried.output < isCarried.size())
            isCarried[carried.output] = true;
    for (std::size_t k = 0; k < flow.outputPort.size(); ++k) {
        if (isCarried[k] || flow.outputPort[k] == TypedFlow::kNoPort)
            continue;
        FlowPort &port = flow.ports[flow.outputPort[k]];
        const DType given = givenType(flow, k);
        port.mayChoose = port.isFree && given != DType::Unknown;
        port.type = port.mayChoose ? given : port.original;
    }
}

} // namespace

std::uint32_t TypedFlow::portOfHead(std::size_t body, std::size_t head) const
{
    const BoundBody &bound = binding.bodies[body];
    if (bound.role != BoundBody::Role::Result || head < bound.firstHead
        || head - bound.firstHead >= outputPort.size())
        return kNoPort;
    return outputPort[head - bound.firstHead];
}

Result<TypedLevel> makeLevels(const graph::Graph &source, const policy::Assignment &assignment,
                              std::span<const infer::Variable> variables, const TypedSettings &settings)
{
    TypedLevel level(source, settings.depth);
    level.assignment = {std::shared_ptr<void>(), &assignment};
    level.variables.assign(variables.begin(), variables.end());
    level.shapes = settings.shapes;
    HALFTONE_CHECK(LevelMaker(settings).make(level));
    return level;
}

Result<void> decideLevels(TypedLevel &level, const TypedSettings &settings, const Progress &progress)
{
    LevelDecider flows(level, settings, progress);
    const PlanSettings plan{settings.target,
                            settings.mode,
                            level.depth > 0 || settings.keepIoTypes,
                            &level.constants,
                            level.kept.empty() ? nullptr : &level.kept,
                            level.flows.empty() ? nullptr : &flows};
    HALFTONE_CHECK(decideTypes(*level.graph, level.rules, *level.assignment, level.variables, plan, progress,
                               level.plan));
    level.plan.notes.insert(level.plan.notes.end(), level.flowNotes.begin(), level.flowNotes.end());
    return {};
}

void applyPorts(TypedLevel &level, TypedFlow &flow)
{
    TypedPlan &plan = level.plan;
    const auto inputs = level.graph->inputs(flow.node);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const DType native = plan.nativeOf(inputs[i]);
        const bool isCast = rewrite::isCastable(native) || native == DType::Unknown;
        plan.reads[plan.firstInput[flow.node] + i] = isCast ? flow.ports[flow.inputPort[i]].type : native;
    }
    for (std::size_t k = 0; k < flow.outputPort.size(); ++k)
        plan.native[plan.firstOutput[flow.node] + k] = flow.outputPort[k] == TypedFlow::kNoPort
            ? plan.original[plan.firstOutput[flow.node] + k]
            : flow.ports[flow.outputPort[k]].type;
    for (std::size_t b = 0; b < flow.bodies.size(); ++b) {
        TypedPlan &inside = flow.bodies[b].plan;
        for (const BoundBody::Tie &tie : flow.binding.bodies[b].ties)
            inside.native[inside.firstOutput[tie.variable]] = flow.ports[flow.inputPort[tie.input]].type;
        for (std::size_t k = 0; k < inside.headReads.size(); ++k) {
            const std::uint32_t port = flow.portOfHead(b, k);
            if (port != TypedFlow::kNoPort && rewrite::isCastable(inside.headReads[k]))
                inside.headReads[k] = flow.ports[port].type;
        }
    }
}

} // namespace halftone::mixed
