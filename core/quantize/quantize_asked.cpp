#include "core/quantize/quantize_asked.h"

#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"
#include "core/quantize/pairs.h"

#include <algorithm>
#include <unordered_map>

namespace halftone::quantize {
namespace {

using dialect::Int8Kind;
using graph::Entry;
using graph::Graph;
using graph::NodeId;
using policy::Request;
using policy::Rule;

bool isDecidedByName(Rule rule)
{
    return rule == Rule::OverrideFp32 || rule == Rule::OverrideTarget || rule == Rule::ExcludedName;
}

/// Why the node's parameters cannot become codes; empty if they can.
std::string badParameter(const Graph &graph, NodeId id, const dialect::StoredArrays &arrays)
{
    for (const Entry &entry : graph.inputs(id)) {
        const auto found = arrays.find(graph.node(entry.node).name);
        if (!graph.isVariable(entry.node) || found == arrays.end())
            continue;
        const tensor::Array &array = *found->second;
        if (array.storage != tensor::Storage::Dense)
            return "its parameter " + graph.node(entry.node).name + " is sparse";
        if (array.values.dtype() != tensor::DType::F32)
            return "its parameter " + graph.node(entry.node).name + " is "
                + std::string(tensor::nameOf(array.values.dtype()));
    }
    return {};
}

Int8Kind kindOf(const Graph &graph, NodeId id)
{
    const dialect::QuantizedForms *const forms = dialect::of(graph).quantizedForms();
    return forms == nullptr || graph.isVariable(id) ? Int8Kind::None : forms->kindOf(graph.node(id).op);
}

/// Does the node only pass on values of its inputs, so that codes go through it unharmed?
bool passesOn(const Graph &graph, NodeId id)
{
    const Int8Kind kind = kindOf(graph, id);
    if (kind == Int8Kind::Flatten)
        return true;
    if (kind != Int8Kind::Pooling && kind != Int8Kind::Activation && kind != Int8Kind::Concat)
        return false;
    const auto op = dialect::of(graph).read(graph.node(id));
    if (!op.ok())
        return false;
    if (const auto *pool = op.value().getIf<ops::Pool>())
        return pool->kind == ops::Pool::Kind::Max;
    if (const auto *activation = op.value().getIf<ops::Activation>())
        return activation->kind == ops::UnaryKind::Relu;
    return op.value().is<ops::Concat>();
}

/// Nobody has chosen another precision for the node: MXNet's own fp32 lists name operators without a 16-bit kernel, which
/// says nothing against codes.
bool mayFollow(const policy::Assignment &assignment, NodeId id)
{
    const Request request = assignment.requested(id);
    if (request == Request::Follow || request == Request::Widest)
        return true;
    return assignment.rule(id) == Rule::Fp32List && assignment.nodes[id].origin == policy::Origin::BuiltIn;
}

/// Adds to `asked` what only passes values on from int8 nodes to int8 nodes and has no precision of its own.
void addBetween(const Graph &graph, const policy::Assignment &assignment, const QuantizeOptions &options,
                std::vector<bool> &asked)
{
    const std::vector<NodeId> order = graph::postOrder(graph);
    std::vector<std::vector<NodeId>> readers(graph.nodeCount());
    std::vector<bool> isHead(graph.nodeCount());
    for (const Entry &head : graph.heads())
        isHead[head.node] = true;
    for (const NodeId id : order) {
        for (const Entry &entry : graph.inputs(id))
            readers[entry.node].push_back(id);
    }
    std::vector<bool> joins = asked;
    std::vector<NodeId> candidates;
    for (const NodeId id : order) {
        if (!mayFollow(assignment, id) || isHead[id] || !passesOn(graph, id))
            continue;
        candidates.push_back(id);
        joins[id] = true;
    }
    // What is fused behind a convolution gives codes as well.
    std::vector<bool> givesCodes = joins;
    for (const NodeId id : order) {
        const Int8Kind kind = kindOf(graph, id);
        const bool mayBeFused = !options.apart[id]
            && (kind == Int8Kind::BatchNorm || kind == Int8Kind::Activation || kind == Int8Kind::Sum);
        if (mayBeFused && !givesCodes[id])
            givesCodes[id] = givesCodes[graph.inputs(id)[0].node];
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (const NodeId id : candidates) {
            const bool stays = joins[id]
                && std::ranges::all_of(graph.inputs(id), [&](const Entry &e) { return givesCodes[e.node]; })
                && std::ranges::all_of(readers[id], [&](NodeId reader) { return joins[reader]; });
            if (stays || !joins[id])
                continue;
            joins[id] = givesCodes[id] = false;
            changed = true;
        }
    }
    asked = std::move(joins);
}

/// Adds to `asked` what computes with codes beside products and has no precision of its own; it is taken where it lies
/// between them.
void addSupports(const Graph &graph, const policy::Assignment &assignment, std::vector<bool> &asked)
{
    const dialect::CodedPairs &pairs = *dialect::codedPairsOf(dialect::of(graph));
    if (std::ranges::find(asked, true) == asked.end())
        return;
    for (const NodeId id : graph::postOrder(graph))
        if (!graph.isVariable(id) && mayFollow(assignment, id)
            && pairs.supportOf(graph.node(id)) != dialect::CodedSupport::None)
            asked[id] = true;
}

policy::Assignment assignmentOf(const policy::Assignment &source, const QuantizedModel &quantized)
{
    const policy::Assignment floats = withoutInt8(source);
    policy::Assignment made;
    made.entries = source.entries;
    for (NodeId id = 0; id < quantized.origins.size(); ++id) {
        const QuantizedOrigin &origin = quantized.origins[id];
        using Kind = QuantizedOrigin::Kind;
        if (origin.kind == Kind::Copy)
            made.nodes.push_back(floats.nodes[origin.nodes.front()]);
        else
            made.nodes.push_back({origin.kind == Kind::Codes ? Rule::Variable : Rule::Int8List, 0});
    }
    return made;
}

std::vector<NodeId> askedNodes(const Graph &graph, const policy::Assignment &assignment)
{
    std::vector<NodeId> nodes;
    for (const NodeId id : graph::postOrder(graph)) {
        if (assignment.requested(id) == Request::Int8)
            nodes.push_back(id);
    }
    return nodes;
}

/// Fused nodes that could not be quantized: those that they were made for.
std::vector<NodeId> fusedButNotQuantized(const graph::Model &source, const QuantizedModel &quantized)
{
    std::vector<NodeId> nodes;
    for (NodeId id = 0; id < quantized.origins.size(); ++id) {
        const QuantizedOrigin &origin = quantized.origins[id];
        const NodeId first = origin.nodes.front();
        if (origin.kind == QuantizedOrigin::Kind::Copy
            && quantized.model.graph.node(id).op != source.graph.node(first).op)
            nodes.push_back(first);
    }
    return nodes;
}

/// A BatchNorm of its own needs the range of what it gives. True when there was one without.
bool refuseUncalibrated(const Graph &graph, const QuantizedRanges &ranges, QuantizeOptions &options,
                        std::unordered_map<NodeId, std::string> &reasons)
{
    bool any = false;
    for (NodeId id = 0; id < options.asked.size(); ++id) {
        if (!options.asked[id] || kindOf(graph, id) != Int8Kind::BatchNorm
            || ranges.contains(dialect::of(graph).entryName(graph, {id, 0, 0})))
            continue;
        options.asked[id] = false;
        reasons.emplace(id, "int8 BatchNorm needs calibrated ranges");
        any = true;
    }
    return any;
}

} // namespace

bool AskedPlan::isEmpty() const
{
    return std::ranges::find(options.asked, true) == options.asked.end()
        && std::ranges::find(options.released, true) == options.released.end();
}

AskedPlan planAsked(const graph::Model &source, const policy::Assignment &assignment)
{
    const Graph &graph = source.graph;
    AskedPlan plan;
    QuantizeOptions &options = plan.options;
    options.isFull = !isInPairs(graph);
    options.perChannel = true;
    options.asked.assign(graph.nodeCount(), false);
    options.apart.assign(graph.nodeCount(), false);
    const dialect::StoredArrays arrays = dialect::storedArrays(source);
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        options.apart[id] = isDecidedByName(assignment.rule(id));
        if (assignment.requested(id) != Request::Int8)
            continue;
        std::string why = source.hasParameters ? badParameter(graph, id, arrays)
                                               : std::string("the parameters are not loaded");
        options.asked[id] = why.empty();
        if (!why.empty())
            plan.refused.push_back({id, std::move(why)});
    }
    if (isInPairs(graph))
        addSupports(graph, assignment, options.asked);
    else
        addBetween(graph, assignment, options, options.asked);
    return plan;
}

Result<std::vector<std::string>> rangesToFind(const graph::Model &source, AskedPlan &plan)
{
    std::vector<std::string> names;
    if (plan.isEmpty())
        return names;
    HALFTONE_TRY(PlannedQuantization planned, planQuantization(source, plan.options));
    plan.plan = std::move(planned.plan);
    for (ObservedTensor &tensor : planned.observed)
        names.push_back(std::move(tensor.source));
    return names;
}

Result<AskedQuantization> quantizeAsked(const graph::Model &source, const policy::Assignment &assignment,
                                        AskedPlan plan, const QuantizedRanges *ranges,
                                        tensor::FormCache &forms, const Progress &progress)
{
    AskedQuantization made;
    const QuantizedRanges none;
    const QuantizedRanges &known = ranges ? *ranges : none;
    QuantizeOptions &options = plan.options;
    options.isCalibrated = !known.empty();
    std::unordered_map<NodeId, std::string> reasons;
    for (rewrite::NodeNote &note : plan.refused)
        reasons.emplace(note.node, std::move(note.text));
    if (refuseUncalibrated(source.graph, known, options, reasons) || !options.isCalibrated)
        plan.plan = nullptr; // it was made for others
    QuantizedModel quantized;
    bool any = false;
    for (bool again = true; again; plan.plan = nullptr) {
        HALFTONE_CHECK(progress.checkStop());
        again = false;
        any = !plan.isEmpty();
        if (!any)
            break;
        HALFTONE_TRY(quantized, quantize(source, options, known, {plan.plan.get(), &forms}));
        for (const SkippedNode &skipped : quantized.skipped)
            reasons.try_emplace(skipped.node, skipped.why);
        // A raised opset renames nodes as well, which nobody asked for codes.
        for (const NodeId id : fusedButNotQuantized(source, quantized)) {
            again = again || options.asked[id];
            options.asked[id] = false;
        }
    }
    std::vector<bool> isInt8(source.graph.nodeCount());
    for (const QuantizedOrigin &origin : quantized.origins) {
        if (origin.kind != QuantizedOrigin::Kind::Int8)
            continue;
        for (const NodeId id : origin.nodes)
            isInt8[id] = true;
    }
    for (const NodeId id : askedNodes(source.graph, assignment)) {
        if (!isInt8[id])
            made.refused.push_back({id, reasons.contains(id) ? reasons.at(id) : "it cannot be quantized"});
    }
    if (!any || (options.released.empty() && std::ranges::find(isInt8, true) == isInt8.end()))
        return made;
    QuantizedPart part;
    part.assignment = assignmentOf(assignment, quantized);
    part.model = std::move(quantized.model);
    part.origins = std::move(quantized.origins);
    part.dropped = std::move(quantized.dropped);
    part.notes = std::move(quantized.notes);
    if (!options.isCalibrated && !isInPairs(source.graph))
        part.notes.emplace_back(
            "no calibrated ranges: int8 operators determine them at run time, for every batch");
    made.part = std::move(part);
    return made;
}

infer::ShapeMap shapesOfPart(const QuantizedPart &part, const infer::ShapeMap &source)
{
    infer::ShapeMap shapes;
    for (const QuantizedOrigin &origin : part.origins) {
        const auto &of = source.byNode[origin.nodes.back()];
        if (origin.kind == QuantizedOrigin::Kind::Copy)
            shapes.byNode.push_back(of);
        else if (origin.kind == QuantizedOrigin::Kind::Codes || origin.output >= of.size())
            shapes.byNode.emplace_back();
        else
            shapes.byNode.push_back({of[origin.output]});
    }
    return shapes;
}

} // namespace halftone::quantize
