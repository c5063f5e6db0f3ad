#include "core/infer/body_binding.h"

#include "core/dialect/dialect.h"
#include "core/graph/traverse.h"
#include "core/infer/lists.h"

#include <algorithm>
#include <string>
#include <utility>

namespace halftone::infer {
namespace {

using graph::NodeId;
using Role = BoundBody::Role;

std::vector<NodeId> variablesOf(const graph::Graph &body)
{
    std::vector<NodeId> order = graph::postOrder(body);
    std::erase_if(order, [&body](NodeId id) { return !body.isVariable(id); });
    return order;
}

Error nowhere(std::string_view list, std::int64_t location)
{
    return badInput(std::string(list), std::to_string(location),
                    "a variable of the body or an input of the node");
}

bool isIn(std::int64_t location, std::size_t count)
{
    return location >= 0 && static_cast<std::size_t>(location) < count;
}

/// ForEach: the lists say, input by input, which variable of the body it is.
Result<BodyBinding> bindForEach(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    BoundBody body;
    body.graph = node.subgraphs[0].get();
    body.stacked = static_cast<std::size_t>(std::max<std::int64_t>(flow.dataOutputs, 0));
    const std::vector<NodeId> variables = variablesOf(*body.graph);
    for (const ops::Dims *list : {&flow.dataLocations, &flow.stateLocations, &flow.bodyLocations}) {
        for (const std::int64_t location : *list) {
            if (!isIn(location, variables.size()) || body.ties.size() >= inputs)
                return nowhere("body", location);
            body.ties.push_back({variables[static_cast<std::size_t>(location)], body.ties.size(),
                                 list == &flow.dataLocations});
        }
    }
    BodyBinding binding;
    binding.bodies.push_back(std::move(body));
    return binding;
}

/// WhileLoop, Cond, Call and Map: the k-th variable of a body is the node's input locations[k].
Result<BoundBody> bindBranch(const graph::Graph &graph, Role role, const ops::Dims &locations,
                             std::size_t inputs)
{
    BoundBody body;
    body.graph = &graph;
    body.role = role;
    const std::vector<NodeId> variables = variablesOf(graph);
    for (const std::int64_t location : locations) {
        if (!isIn(location, inputs) || body.ties.size() >= variables.size())
            return nowhere("locations", location);
        body.ties.push_back({variables[body.ties.size()], static_cast<std::size_t>(location), false});
    }
    return body;
}

/// The two bodies of which one gives the result, from `first` on.
Result<void> bindBranches(const graph::NodeDef &node, std::size_t first, const ops::ControlFlow &flow,
                          std::size_t inputs, BodyBinding &binding)
{
    for (const ops::Dims *const locations : {&flow.bodyLocations, &flow.elseLocations}) {
        HALFTONE_TRY(BoundBody body, bindBranch(*node.subgraphs[first++], Role::Result, *locations, inputs));
        binding.bodies.push_back(std::move(body));
    }
    return {};
}

Result<BodyBinding> bindCond(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    BodyBinding binding;
    HALFTONE_TRY(BoundBody condition,
                 bindBranch(*node.subgraphs[0], Role::BranchCondition, flow.conditionLocations, inputs));
    binding.bodies.push_back(std::move(condition));
    HALFTONE_CHECK(bindBranches(node, 1, flow, inputs, binding));
    return binding;
}

/// Cond of two bodies: the condition comes as a value.
Result<BodyBinding> bindChoice(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    if (flow.conditionLocations.size() != 1 || !isIn(flow.conditionLocations[0], inputs))
        return nowhere("condition", -1);
    BodyBinding binding;
    binding.choice = static_cast<std::size_t>(flow.conditionLocations[0]);
    HALFTONE_CHECK(bindBranches(node, 0, flow, inputs, binding));
    return binding;
}

Result<BodyBinding> bindWhile(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    BodyBinding binding;
    HALFTONE_TRY(BoundBody condition,
                 bindBranch(*node.subgraphs[0], Role::LoopCondition, flow.conditionLocations, inputs));
    HALFTONE_TRY(BoundBody body, bindBranch(*node.subgraphs[1], Role::Result, flow.bodyLocations, inputs));
    body.stacked = static_cast<std::size_t>(std::max<std::int64_t>(flow.dataOutputs, 0));
    for (std::size_t i = 0; i < flow.stateLocations.size(); ++i) {
        const std::int64_t variable = flow.stateLocations[i];
        if (!isIn(variable, body.ties.size()))
            return nowhere("func_var_locs", variable);
        binding.carried.push_back({body.ties[static_cast<std::size_t>(variable)].input, body.stacked + i});
    }
    binding.mostSteps = flow.maxIterations;
    binding.bodies.push_back(std::move(condition));
    binding.bodies.push_back(std::move(body));
    return binding;
}

std::optional<std::size_t> present(const ops::Dims &locations, std::size_t k)
{
    if (k >= locations.size() || locations[k] < 0)
        return std::nullopt;
    return static_cast<std::size_t>(locations[k]);
}

std::int64_t entryOf(const ops::Dims &list, std::size_t k)
{
    return k < list.size() ? list[k] : 0;
}

/// The body of a Loop or a Scan.
Result<BoundBody> bindSteps(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    using Flow = ops::ControlFlow;
    BoundBody body;
    body.graph = node.subgraphs[0].get();
    const std::vector<NodeId> variables = variablesOf(*body.graph);
    if (variables.size() != flow.bodyLocations.size())
        return nowhere("body", static_cast<std::int64_t>(flow.bodyLocations.size()));
    for (std::size_t k = 0; k < variables.size(); ++k) {
        const std::int64_t location = flow.bodyLocations[k];
        if (flow.kind == Flow::Kind::Loop && (location == Flow::kStepNumber || location == Flow::kGoesOn)) {
            body.given.push_back({variables[k], location == Flow::kStepNumber});
            continue;
        }
        if (!isIn(location, inputs))
            return nowhere("body", location);
        BoundBody::Tie tie{variables[k], static_cast<std::size_t>(location), false};
        const auto slice = std::ranges::find(flow.dataLocations, location);
        if (slice != flow.dataLocations.end()) {
            const auto at = static_cast<std::size_t>(slice - flow.dataLocations.begin());
            tie.sliced = true;
            tie.axis = entryOf(flow.sliceAxes, at);
            tie.isBackward = entryOf(flow.sliceDirections, at) == 1;
        }
        body.ties.push_back(tie);
    }
    body.firstHead = flow.kind == Flow::Kind::Loop ? 1 : 0;
    body.stacked = static_cast<std::size_t>(std::max<std::int64_t>(flow.dataOutputs, 0));
    body.stacksLast = true;
    if (body.graph->heads().size() != body.firstHead + flow.stateLocations.size() + body.stacked)
        return nowhere("heads", static_cast<std::int64_t>(body.graph->heads().size()));
    for (std::size_t k = 0; k < body.stacked; ++k)
        body.stacks.push_back({entryOf(flow.stackAxes, k), entryOf(flow.stackDirections, k) == 1});
    return body;
}

Result<BodyBinding> bindLoop(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    BodyBinding binding;
    HALFTONE_TRY(BoundBody body, bindSteps(node, flow, inputs));
    binding.bodies.push_back(std::move(body));
    for (std::size_t k = 0; k < flow.stateLocations.size(); ++k) {
        if (!isIn(flow.stateLocations[k], inputs))
            return nowhere("states", flow.stateLocations[k]);
        binding.carried.push_back({static_cast<std::size_t>(flow.stateLocations[k]), k});
    }
    binding.shapesMayChange = flow.kind == ops::ControlFlow::Kind::Loop;
    binding.isBatched = flow.isBatched;
    if (flow.kind == ops::ControlFlow::Kind::Loop) {
        binding.tripCount = present(flow.conditionLocations, 0);
        binding.firstCondition = present(flow.conditionLocations, 1);
    } else {
        binding.lengths = present(flow.conditionLocations, 0);
    }
    return binding;
}

/// The body of a Call or of a Map.
Result<BodyBinding> bindCall(const graph::NodeDef &node, const ops::ControlFlow &flow, std::size_t inputs)
{
    const graph::Graph &graph = *node.subgraphs[0];
    if (variablesOf(graph).size() != flow.bodyLocations.size())
        return nowhere("body", static_cast<std::int64_t>(flow.bodyLocations.size()));
    HALFTONE_TRY(BoundBody body, bindBranch(graph, Role::Result, flow.bodyLocations, inputs));
    BodyBinding binding;
    binding.bodies.push_back(std::move(body));
    return binding;
}

/// The first input is a list whatever gives it.
Result<BodyBinding> bindMap(const graph::Graph &graph, NodeId id, const ops::ControlFlow &flow)
{
    const auto inputs = graph.inputs(id);
    HALFTONE_TRY(BodyBinding binding, bindCall(graph.node(id), flow, inputs.size()));
    binding.isMapped = true;
    for (BoundBody::Tie &tie : binding.bodies[0].ties)
        tie.sliced = tie.input == 0
            || (static_cast<std::int64_t>(tie.input) < flow.inputs && isList(graph, inputs[tie.input]));
    return binding;
}

BodyBinding bindFused(const dialect::Dialect &dialect, const graph::NodeDef &node, std::size_t inputs,
                      std::size_t outputs)
{
    BodyBinding binding;
    if (node.subgraphs.size() != 1 || dialect.findOp(node.op) == nullptr)
        return binding;
    const dialect::FusedFacts facts = dialect.fusedFacts(node);
    binding.isQuantized = facts.isQuantized;
    binding.hasFloatOutput = facts.hasFloatOutput;

    BoundBody body;
    body.graph = node.subgraphs[0].get();
    const std::vector<NodeId> variables = variablesOf(*body.graph);
    const std::size_t heads = body.graph->heads().size();
    const bool fits = binding.isQuantized ? variables.size() <= inputs && heads <= outputs
                                          : variables.size() == inputs && heads == outputs;
    if (!fits)
        return binding;
    for (const NodeId variable : variables)
        body.ties.push_back({variable, body.ties.size(), false});
    binding.bodies.push_back(std::move(body));
    return binding;
}

} // namespace

std::size_t BoundBody::outputCount() const
{
    const std::size_t heads = graph->heads().size();
    return heads - std::min(heads, firstHead);
}

bool BoundBody::isStacked(std::size_t output) const
{
    return stacksLast ? output < outputCount() && output + stacked >= outputCount() : output < stacked;
}

BoundBody::Stack BoundBody::stackOf(std::size_t output) const
{
    const std::size_t k = stacksLast ? output + stacked - outputCount() : output;
    return k < stacks.size() ? stacks[k] : Stack();
}

Result<BodyBinding> bindBodies(const graph::Graph &graph, graph::NodeId id, std::size_t outputs)
{
    using Kind = ops::ControlFlow::Kind;
    const graph::NodeDef &node = graph.node(id);
    const std::size_t inputs = graph.inputs(id).size();
    if (node.subgraphs.empty())
        return BodyBinding{};
    const dialect::Dialect &dialect = dialect::of(graph);
    HALFTONE_TRY(const ops::Operator op, dialect.read(node));
    const auto *const flow = op.getIf<ops::ControlFlow>();
    if (flow == nullptr) // of control flow that is only known by name nothing is known
        return dialect.role(node) == dialect::NodeRole::ControlFlow
            ? BodyBinding{}
            : bindFused(dialect, node, inputs, outputs);
    if (flow->kind == Kind::Cond && node.subgraphs.size() == 2)
        return bindChoice(node, *flow, inputs);
    if (flow->kind == Kind::Map)
        return node.subgraphs.size() == 1 ? bindMap(graph, id, *flow) : Result(BodyBinding{});
    if (flow->kind == Kind::Call)
        return bindCall(node, *flow, inputs);
    if (flow->kind == Kind::Loop || flow->kind == Kind::Scan)
        return node.subgraphs.size() == 1 ? bindLoop(node, *flow, inputs) : Result(BodyBinding{});
    const std::size_t needed = flow->kind == Kind::ForEach ? 1 : flow->kind == Kind::WhileLoop ? 2 : 3;
    if (node.subgraphs.size() < needed)
        return BodyBinding{};
    return flow->kind == Kind::ForEach  ? bindForEach(node, *flow, inputs)
        : flow->kind == Kind::WhileLoop ? bindWhile(node, *flow, inputs)
                                        : bindCond(node, *flow, inputs);
}

std::vector<tensor::DType> handedTypes(const BoundBody &body, std::span<const tensor::DType> inputs)
{
    std::vector<tensor::DType> types(body.graph->nodeCount(), tensor::DType::Unknown);
    for (const BoundBody::Tie &tie : body.ties)
        types[tie.variable] = inputs[tie.input];
    for (const BoundBody::Given &given : body.given)
        types[given.variable] = given.isStep ? tensor::DType::I64 : tensor::DType::Bool;
    return types;
}

} // namespace halftone::infer
