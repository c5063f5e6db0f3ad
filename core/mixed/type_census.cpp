#include "core/mixed/type_census.h"

#include "core/dialect/calls.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/infer/infer_data_types.h"
#include "core/infer/infer_types.h"
#include "core/infer/node_types.h"
#include "core/infer/variables.h"
#include "core/mixed/assign_body.h"
#include "core/mixed/chosen_types.h"
#include "core/mixed/typed_plan.h"
#include "core/ops/cost.h"
#include "core/policy/assignment.h"
#include "core/quantize/coded_nodes.h"
#include "core/rewrite/conversion.h"

#include <algorithm>
#include <optional>

namespace halftone::mixed {
namespace {

using graph::Entry;
using graph::Graph;
using graph::NodeId;
using policy::Request;
using tensor::DType;

bool isCode(DType type)
{
    return type == DType::I8 || type == DType::U8;
}

/// No variable, and nothing that only changes types or turns reals into codes and back.
bool isCounted(const Graph &graph, NodeId id)
{
    const dialect::NodeRole role = dialect::roleOf(graph, id);
    const dialect::CodedPairs *const pairs = dialect::codedPairsOf(dialect::of(graph));
    if (role == dialect::NodeRole::Other && pairs != nullptr && pairs->isPairNode(graph.node(id)))
        return false;
    return role != dialect::NodeRole::Variable && !dialect::isCast(role) && !dialect::changesCodes(role);
}

/// Types of everything. Data that nothing tells the type of are float32 where that goes.
Result<infer::TypeMap> typesOf(const graph::Model &model, const policy::Policy &policy,
                               std::vector<policy::Warning> &warnings)
{
    HALFTONE_TRY(const std::vector<infer::Variable> variables,
                 infer::classifyVariables(model, policy, warnings));
    std::vector<DType> types;
    std::vector<NodeId> open;
    for (NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        types.push_back(variables[id].type);
        if (model.graph.isVariable(id) && variables[id].isData && variables[id].isAssumed)
            open.push_back(id);
    }
    auto inferred = infer::inferTypes(model.graph, types);
    if (inferred.ok() || open.empty())
        return inferred;
    for (const NodeId id : open)
        types[id] = DType::Unknown;
    auto found = infer::inferDataTypes(model.graph, open, types);
    return found.ok() ? std::move(found) : std::move(inferred);
}

/// A body with the types and shapes that it is handed; nothing where its types contradict each other.
std::optional<infer::TypedModel> typedBody(const infer::TypedModel &model, NodeId node,
                                           const infer::BoundBody &body)
{
    const auto inputs = model.model.graph.inputs(node);
    std::vector<DType> handed;
    for (const graph::Entry &entry : inputs)
        handed.push_back(model.types.of(entry));
    infer::KnownShapes shapes;
    for (const infer::BoundBody::Tie &tie : body.ties) {
        // What a loop carries may change its shape.
        if (body.role == infer::BoundBody::Role::Result && body.stacks.empty() && !tie.sliced)
            shapes[body.graph->node(tie.variable).name] = model.shapes.of(inputs[tie.input]);
    }
    auto inferred = infer::inferTypes(*body.graph, infer::handedTypes(body, handed));
    if (!inferred.ok())
        return std::nullopt;
    auto known = infer::inferShapes(*body.graph, shapes);
    return infer::TypedModel{graph::Model{*body.graph, {}, true}, std::move(inferred).value(),
                             known.ok() ? std::move(known).value() : infer::unknownShapes(*body.graph)};
}

class Census
{
public:
    /// Needs: the model outlives it
    explicit Census(const infer::TypedModel &model)
        : m_model(model)
        , m_graph(model.model.graph)
        , m_shapes(model.shapes)
        , m_types(model.types)
        , m_traced(model.traced)
        , m_rules(m_graph)
        , m_coded(dialect::codedPairsOf(dialect::of(m_graph)) ? quantize::codedNodes(model.model)
                                                              : std::vector<NodeId>())
    {
    }

    /// byType  by DType
    void count(std::vector<TypeShare> &byType, TypeCensus &census) const
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const DType type = computesIn(id);
            census.computes.push_back(type);
            if (m_graph.isVariable(id))
                continue;
            const bool isReal = tensor::isFloat(type) || type == DType::I8;
            add(id,
                !isCounted(m_graph, id) ? census.casts : byType[isReal ? static_cast<std::size_t>(type) : 0]);
        }
    }

    /// Holds what is asked of every node against what it computes in.
    void compare(const policy::Assignment &assignment, DType target, TypeCensus &census) const
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const DType got = census.computes[id];
            const Request request = assignment.requested(id);
            const DType asked = request == Request::Fp32 ? DType::F32
                : request == Request::Target             ? target
                : request == Request::Int8               ? DType::I8
                                                         : DType::Unknown;
            const bool isOpen = !isCounted(m_graph, id) || asked == DType::Unknown
                || !(rewrite::isCastable(got) || got == DType::I8);
            // Codes are what a quantizer made of it, which no list of float types speaks of.
            if (isOpen || (got == DType::I8 && assignment.rule(id) == policy::Rule::Coded))
                continue;
            ++census.asked;
            if (asked != got)
                census.differences.push_back({id, m_graph.node(id).name, m_graph.node(id).op, asked, got,
                                              assignment.entry(id), reason(id, asked, got)});
        }
    }

    /// What computes with codes stays so whatever a list of float types says.
    void keepCoded(policy::Assignment &assignment, const TypeCensus &census) const
    {
        for (NodeId id = 0; id < m_graph.nodeCount(); ++id) {
            const policy::Rule rule = assignment.rule(id);
            const bool isOwn = rule == policy::Rule::OverrideFp32 || rule == policy::Rule::OverrideTarget
                || rule == policy::Rule::ExcludedName || policy::requestOf(rule) == Request::Int8;
            if (census.computes[id] == DType::I8 && !isOwn)
                assignment.nodes[id] = {policy::Rule::Coded, 0};
        }
    }

private:
    bool readsCodes(NodeId id) const
    {
        const auto inputs = m_graph.inputs(id);
        return !inputs.empty() && isCode(m_types.of(inputs[0]));
    }

    DType computesIn(NodeId id) const
    {
        const bool isPaired = !m_coded.empty() && m_coded[id] != rewrite::kNoNode;
        // An operator on codes reads them first, whatever it gives; what only moves or looks up codes is told by its result.
        if (isPaired || (isCounted(m_graph, id) && readsCodes(id) && m_graph.inputs(id).size() > 1))
            return DType::I8;
        for (const DType type : m_types.outputs(id)) {
            if (tensor::isFloat(type))
                return type;
        }
        for (const Entry &entry : m_graph.inputs(id)) {
            if (const DType type = m_types.of(entry); tensor::isFloat(type))
                return type;
        }
        const auto outputs = m_types.outputs(id);
        return outputs.empty() ? DType::Unknown : isCode(outputs[0]) ? DType::I8 : outputs[0];
    }

    /// A call computes what its body does, and reads and writes its own values.
    std::optional<ops::Cost> costOfCall(NodeId id) const
    {
        const auto binding = infer::bindBodies(m_graph, id, m_types.outputs(id).size());
        if (!binding.ok() || binding.value().bodies.size() != 1)
            return std::nullopt;
        const auto inside = typedBody(m_model, id, binding.value().bodies.front());
        const auto bytes = bytesAround(id);
        if (!inside || !bytes)
            return std::nullopt;
        const Census body(*inside);
        ops::Cost cost{0, *bytes};
        for (NodeId inner = 0; inner < inside->model.graph.nodeCount(); ++inner) {
            if (inside->model.graph.isVariable(inner)
                || std::ranges::none_of(inside->types.outputs(inner), tensor::isFloat))
                continue;
            const std::optional<ops::Cost> one = body.costOf(inner);
            if (!one)
                return std::nullopt;
            cost.flops += one->flops;
        }
        return cost;
    }

    /// Read and written; nothing where a shape is open.
    std::optional<std::int64_t> bytesAround(NodeId id) const
    {
        std::int64_t bytes = 0;
        bool isKnown = true;
        const auto add = [&](const tensor::Shape &shape, DType type) {
            const auto count = shape.elementCount();
            isKnown = isKnown && count.has_value();
            bytes += count.value_or(0) * static_cast<std::int64_t>(tensor::sizeOf(type));
        };
        for (const Entry &entry : m_graph.inputs(id))
            add(m_shapes.of(entry), m_types.of(entry));
        const auto &outputs = m_shapes.byNode[id];
        for (std::size_t k = 0; k < std::min(outputs.size(), m_types.outputs(id).size()); ++k)
            add(outputs[k], m_types.outputs(id)[k]);
        return isKnown ? std::optional(bytes) : std::nullopt;
    }

    std::optional<ops::Cost> costOf(NodeId id) const
    {
        if (dialect::isCall(m_graph, id))
            return costOfCall(id);
        const bool isTraced = !m_traced.empty() && m_traced[id].op;
        const auto op = isTraced ? Result<ops::Operator>(*m_traced[id].op)
                                 : dialect::of(m_graph).read(m_graph.node(id));
        if (!op.ok())
            return std::nullopt;
        std::vector<tensor::Shape> inputs;
        std::vector<std::size_t> inputSizes;
        for (const Entry &entry : m_graph.inputs(id)) {
            inputs.push_back(m_shapes.of(entry));
            inputSizes.push_back(tensor::sizeOf(m_types.of(entry)));
        }
        std::vector<std::size_t> outputSizes;
        for (const DType type : m_types.outputs(id))
            outputSizes.push_back(tensor::sizeOf(type));
        const auto &outputs = m_shapes.byNode[id];
        if (outputs.size() != outputSizes.size())
            return std::nullopt;
        return ops::cost(op.value(), inputs, outputs, inputSizes, outputSizes);
    }

    void add(NodeId id, TypeShare &share) const
    {
        ++share.operators;
        const std::optional<ops::Cost> cost = costOf(id);
        share.uncosted += cost ? 0 : 1;
        share.flops += cost ? cost->flops : 0;
        share.bytes += cost ? cost->bytes : 0;
    }

    bool takes(NodeId id, DType type) const
    {
        std::vector<DType> inputs;
        for (const Entry &entry : m_graph.inputs(id)) {
            const DType given = m_types.of(entry);
            inputs.push_back(rewrite::isCastable(given) ? DType::Unknown : given);
        }
        const auto first = std::ranges::find(inputs, DType::Unknown);
        if (first == inputs.end())
            return false;
        *first = type;
        std::vector<DType> outputs(m_rules.outputCount(id), DType::Unknown);
        return applyChosen(m_graph, m_rules, id, inputs, outputs) != ops::TypeOutcome::Refused;
    }

    std::string reason(NodeId id, DType asked, DType got) const
    {
        if (asked == DType::I8)
            return "its inputs are not quantized";
        if (got == DType::I8)
            return "it computes with int8 codes";
        if (!takes(id, asked))
            return m_graph.node(id).op + " does not support " + std::string(tensor::nameOf(asked)) + " here";
        for (const Entry &entry : m_graph.inputs(id)) {
            if (m_types.of(entry) == got)
                return "its input " + dialect::of(m_graph).entryName(m_graph, entry) + " is "
                    + std::string(tensor::nameOf(got));
        }
        return "its inputs are not cast";
    }

    const infer::TypedModel &m_model;
    const Graph &m_graph;
    const infer::ShapeMap &m_shapes;
    const infer::TypeMap &m_types;
    const std::vector<infer::TracedNode> &m_traced;
    const infer::NodeTypes m_rules;
    const std::vector<NodeId> m_coded;
};

/// Casts, differences and numbers of a body.
void add(const TypeCensus &own, TypeCensus &census)
{
    census.casts.operators += own.casts.operators;
    census.casts.uncosted += own.casts.uncosted;
    census.casts.flops += own.casts.flops;
    census.casts.bytes += own.casts.bytes;
    census.asked += own.asked;
    census.differences.insert(census.differences.end(), own.differences.begin(), own.differences.end());
}

/// Counts what bodies compute, and holds it against the policy, whose names and lists hold there too.
/// around  what is decided of the graph's own nodes; null: nothing
void countBodies(const infer::TypedModel &model, const policy::Policy *policy, const Decided *decided,
                 const policy::Assignment *around, int depth, std::vector<TypeShare> &byType,
                 TypeCensus &census)
{
    const Graph &graph = model.model.graph;
    for (NodeId id = 0; id < graph.nodeCount() && depth < infer::kMaxBodyDepth; ++id) {
        if (graph.isVariable(id) || !isControlFlow(graph, id) || dialect::isCall(graph, id))
            continue;
        const auto binding = infer::bindBodies(graph, id, model.types.outputs(id).size());
        if (!binding.ok())
            continue;
        for (const infer::BoundBody &body : binding.value().bodies) {
            const auto inside = typedBody(model, id, body);
            if (!inside)
                continue;
            TypeCensus own;
            const Census counted(*inside);
            counted.count(byType, own);
            for (NodeId inner = 0; inner < body.graph->nodeCount(); ++inner)
                census.inBodies += isCounted(*body.graph, inner) ? 1 : 0;
            policy::Assignment assignment;
            const bool isAsked = around != nullptr && around->requested(id) != Request::Fp32;
            if (isAsked) {
                assignment = assignBody(*body.graph, *policy, *decided);
                counted.keepCoded(assignment, own);
                counted.compare(assignment, policy->target, own);
            }
            add(own, census);
            countBodies(*inside, policy, decided, isAsked ? &assignment : nullptr, depth + 1, byType, census);
        }
    }
}

} // namespace

Result<infer::TypedModel> typedAsStored(const graph::Model &model, infer::ShapeMap shapes,
                                        const policy::Policy &policy)
{
    std::vector<policy::Warning> told; // whoever takes the census is told of the policy
    HALFTONE_TRY(infer::TypeMap types, typesOf(model, policy, told));
    return infer::TypedModel{model, std::move(types), std::move(shapes)};
}

Result<TypeCensus> typeCensus(const infer::TypedModel &model, const policy::Policy *policy)
{
    TypeCensus found;
    std::vector<TypeShare> byType(tensor::kTypes);
    const Census census(model);
    census.count(byType, found);
    std::optional<Decided> decided;
    if (policy != nullptr) { // the mode and the chip have their say, as in a conversion
        HALFTONE_TRY(decided, decide(model.model, *policy));
        found.warnings = std::move(decided->warnings);
        census.keepCoded(decided->assignment, found);
        census.compare(decided->assignment, policy->target, found);
    }
    countBodies(model, policy, decided ? &*decided : nullptr, decided ? &decided->assignment : nullptr, 0,
                byType, found);
    for (std::size_t k = 0; k < byType.size(); ++k) {
        byType[k].type = static_cast<DType>(k);
        if (byType[k].operators > 0)
            found.shares.push_back(byType[k]);
    }
    return found;
}

} // namespace halftone::mixed
