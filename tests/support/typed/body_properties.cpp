#include "tests/support/typed/body_properties.h"

#include "core/infer/body_binding.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace halftone::test {
namespace {

using graph::Graph;
using graph::NodeId;
using infer::BoundBody;
using tensor::DType;

/// The bodies of a node of control flow; none of other nodes.
std::vector<BoundBody> bodiesOf(const Graph &graph, NodeId id, std::size_t outputs)
{
    if (graph.node(id).subgraphs.empty())
        return {};
    const auto binding = infer::bindBodies(graph, id, outputs);
    return binding.ok() ? binding.value().bodies : std::vector<BoundBody>();
}

Types variablesIn(const Graph &graph, NodeId id, const BoundBody &body, const OracleTypes &types)
{
    Types variables(body.graph->nodeCount(), DType::Unknown);
    for (const BoundBody::Tie &tie : body.ties) {
        const graph::Entry &entry = graph.inputs(id)[tie.input];
        variables[tie.variable] = types.outputs[entry.node][entry.output];
    }
    return variables;
}

/// Calls visit(body, types in it) for all bodies, at any depth, until one gives a text.
template <class Visit>
std::string firstOfBodies(const Graph &graph, const OracleTypes &types, const Visit &visit)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        for (const BoundBody &body : bodiesOf(graph, id, types.outputs[id].size())) {
            const OracleTypes inside = typesByOracle(*body.graph, variablesIn(graph, id, body, types));
            std::string text = visit(*body.graph, inside);
            if (text.empty())
                text = firstOfBodies(*body.graph, inside, visit);
            if (!text.empty())
                return "in \"" + graph.node(id).name + "\": " + text;
        }
    }
    return {};
}

/// No cast of a cast, none to the type that is there, none twice.
std::string needlessCast(const Graph &graph, const OracleTypes &types)
{
    std::set<std::tuple<NodeId, std::uint32_t, std::string>> casts;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (node.op == "amp_multicast")
            return "\"" + node.name + "\" is left";
        if (node.op != "amp_cast")
            continue;
        const graph::Entry &tensor = graph.inputs(id)[0];
        const DType from = types.outputs[tensor.node][tensor.output];
        if (from != DType::Unknown && from == types.outputs[id][0])
            return "\"" + node.name + "\" casts " + std::string(tensor::nameOf(from));
        if (graph.node(tensor.node).op == "amp_cast")
            return "\"" + node.name + "\" casts a cast";
        if (!casts.emplace(tensor.node, tensor.output, *node.attributes.find("dtype")).second)
            return "\"" + node.name + "\" is there twice";
    }
    return {};
}

/// As the body of a model that has one node.
std::size_t castsAlone(const BoundBody &body, const Types &variables, const policy::Policy &given)
{
    graph::Model model{*body.graph, {}, false};
    policy::Policy policy = given;
    policy.dataNames.reset();
    policy.inputDtypes.clear();
    policy.keepIoTypes = true;
    for (const BoundBody::Tie &tie : body.ties)
        if (variables[tie.variable] != DType::Unknown)
            policy.inputDtypes[body.graph->node(tie.variable).name] = variables[tie.variable];
    const auto converted = mixed::convertModel(model, policy, false);
    return converted.ok() ? castsIn(converted.value().conversion.graph) : 0;
}

std::size_t alone(const Graph &graph, const OracleTypes &types, const policy::Policy &policy,
                  const rewrite::Conversion &log)
{
    std::size_t casts = 0;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (log.fromSource[id] == rewrite::kNoNode)
            continue;
        for (const BoundBody &body : bodiesOf(graph, id, types.outputs[id].size()))
            casts += castsAlone(body, variablesIn(graph, id, body, types), policy);
    }
    return casts;
}

/// What goes in or comes out is 16 bit: alone, a body rounds to that what it has computed in float32, though others read it so.
bool hasHalfEdges(const Outcome &o)
{
    for (const rewrite::ConvertedBody &body : o.log().bodies) {
        const auto isHalf = [&o](const graph::Entry &entry) {
            return tensor::isHalf(o.before.outputs[entry.node][entry.output]);
        };
        if (std::ranges::any_of(o.source().inputs(body.node), isHalf))
            return true;
    }
    return false;
}

/// Products that no list asks for come to the target type by what they read, and none goes back from it (core/mixed/RULES.md, M-typed-may):
/// where bodies hand on 16 bit, there are more of them.
bool lowersProductsUnasked(const Outcome &o)
{
    static const std::set<std::string> kProducts{"FullyConnected", "Convolution", "Deconvolution", "dot",
                                                 "batch_dot",      "RNN",         "_linalg_gemm2"};
    const Graph &source = o.source();
    for (NodeId id = 0; id < source.nodeCount(); ++id)
        if (kProducts.contains(source.node(id).op) && o.log().precisionOf(id) == o.target
            && o.converted.assignment.requested(id) != policy::Request::Target)
            return true;
    return !o.given.policy.targetOps.value_or(std::vector<std::string>()).empty();
}

} // namespace

std::size_t castsIn(const Graph &graph)
{
    std::size_t count = 0;
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        if (graph.node(id).op == "amp_cast")
            ++count;
        else if (graph.node(id).op == "amp_multicast")
            count += graph.inputs(id).size() - 1;
        for (const auto &body : graph.node(id).subgraphs)
            count += castsIn(*body);
    }
    return count;
}

std::size_t castsOfBodiesAlone(const Outcome &o)
{
    return alone(o.source(), o.before, o.given.policy, o.log());
}

std::string castsInBodiesAreNeeded(const Outcome &o)
{
    return firstOfBodies(o.result(), o.after, needlessCast);
}

/// The graph around them has its control flow in float32 then.
std::string bodiesNeedNoMoreCastsThanAlone(const Outcome &o)
{
    if (o.log().bodies.empty() || hasHalfEdges(o) || lowersProductsUnasked(o))
        return {};
    policy::Policy apart = o.given.policy;
    for (const rewrite::ConvertedBody &body : o.log().bodies)
        apart.nodeOverrides[o.source().node(body.node).name] = DType::F32;
    const auto around = mixed::convertModel(o.given.model, apart, false);
    if (!around.ok())
        return {};
    const std::size_t bound = castsIn(around.value().model.graph) + castsOfBodiesAlone(o);
    const std::size_t count = castsIn(o.result());
    return count <= bound ? std::string()
                          : std::to_string(count) + " casts, graph by graph " + std::to_string(bound);
}

} // namespace halftone::test
