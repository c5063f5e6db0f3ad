#include "core/dialect/onnx/control_flow.h"

#include "core/base/text.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/graph/traverse.h"

#include <optional>
#include <string>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using ops::ControlFlow;
using ops::Dims;

/// Inputs that the file gives the node, before those that its bodies capture.
std::size_t ownInputs(const NodeDef &node)
{
    std::size_t own = 0;
    while (own < node.slots.size() && node.slots[own] < kFirstCapturedSlot)
        ++own;
    return own;
}

std::optional<std::int64_t> numberOf(const NodeDef &variable, std::string_view key)
{
    const std::string *const text = variable.attributes.find(key);
    return text ? parseInteger(*text) : std::nullopt;
}

/// Where the variables of a body come from, in the order in which a walk from its heads meets them. `places`: by input of the body's own.
std::optional<Dims> locationsOf(const graph::Graph &body, const Dims &places, std::size_t own)
{
    Dims locations;
    for (const graph::NodeId id : graph::postOrder(body)) {
        if (!body.isVariable(id))
            continue;
        const NodeDef &variable = body.node(id);
        if (const auto outer = numberOf(variable, kCapturedKey)) {
            locations.push_back(*outer + static_cast<std::int64_t>(own));
            continue;
        }
        const auto inner = numberOf(variable, kBodyInputKey);
        if (!inner || *inner < 0 || *inner >= static_cast<std::int64_t>(places.size()))
            return std::nullopt;
        locations.push_back(places[static_cast<std::size_t>(*inner)]);
    }
    return locations;
}

std::optional<ControlFlow> readIf(const NodeDef &node, std::size_t own)
{
    if (node.subgraphs.size() != 2 || own != 1)
        return std::nullopt;
    auto taken = locationsOf(*node.subgraphs[0], {}, own);
    auto other = locationsOf(*node.subgraphs[1], {}, own);
    if (!taken || !other)
        return std::nullopt;
    ControlFlow flow;
    flow.kind = ControlFlow::Kind::Cond;
    flow.conditionLocations = {0};
    flow.bodyLocations = std::move(*taken);
    flow.elseLocations = std::move(*other);
    return flow;
}

/// Inputs: trip count, condition, states. Its body takes the number of the step, the condition, states; and gives the condition of the
/// next step, states, and what is stacked.
std::optional<ControlFlow> readLoop(const NodeDef &node, std::size_t own)
{
    ControlFlow flow;
    flow.kind = ControlFlow::Kind::Loop;
    flow.conditionLocations = {-1, -1};
    for (std::size_t k = 0; k < own; ++k) {
        const std::uint32_t slot = node.slots[k];
        if (slot < 2)
            flow.conditionLocations[slot] = static_cast<std::int64_t>(k);
        else if (slot == flow.stateLocations.size() + 2)
            flow.stateLocations.push_back(static_cast<std::int64_t>(k));
        else
            return std::nullopt;
    }
    Dims places{ControlFlow::kStepNumber, ControlFlow::kGoesOn};
    places.insert(places.end(), flow.stateLocations.begin(), flow.stateLocations.end());
    const std::size_t needed = 1 + flow.stateLocations.size();
    auto locations = locationsOf(*node.subgraphs[0], places, own);
    const std::size_t heads = node.subgraphs[0]->heads().size();
    if (!locations || heads < needed)
        return std::nullopt;
    flow.bodyLocations = std::move(*locations);
    flow.dataOutputs = static_cast<std::int64_t>(heads - needed);
    return flow;
}

Dims listOf(const NodeDef &node, std::string_view key)
{
    const std::string *const text = node.attributes.find(key);
    return text ? integersIn(*text).value_or(Dims()) : Dims();
}

/// Inputs: states, then what is walked through; until opset 8 lengths before them, and a batch around all.
std::optional<ControlFlow> readScan(const NodeDef &node, std::size_t own, int opset)
{
    ControlFlow flow;
    flow.kind = ControlFlow::Kind::Scan;
    flow.isBatched = opset < 9 || node.attributes.find(kBatchedKey) != nullptr;
    const std::uint32_t first = flow.isBatched ? 1 : 0;
    flow.conditionLocations = {-1};
    const auto slices = numberOf(node, "num_scan_inputs");
    Dims places;
    for (std::size_t k = 0; k < own; ++k) {
        if (node.slots[k] < first)
            flow.conditionLocations[0] = static_cast<std::int64_t>(k);
        else if (node.slots[k] == places.size() + first)
            places.push_back(static_cast<std::int64_t>(k));
        else
            return std::nullopt;
    }
    if (!slices || *slices < 1 || *slices > static_cast<std::int64_t>(places.size()))
        return std::nullopt;
    const auto states = static_cast<std::ptrdiff_t>(places.size()) - static_cast<std::ptrdiff_t>(*slices);
    flow.stateLocations.assign(places.begin(), places.begin() + states);
    flow.dataLocations.assign(places.begin() + states, places.end());
    auto locations = locationsOf(*node.subgraphs[0], places, own);
    const std::size_t heads = node.subgraphs[0]->heads().size();
    if (!locations || heads < flow.stateLocations.size())
        return std::nullopt;
    flow.bodyLocations = std::move(*locations);
    flow.dataOutputs = static_cast<std::int64_t>(heads - flow.stateLocations.size());
    flow.sliceAxes = listOf(node, "scan_input_axes");
    flow.sliceDirections = listOf(node, flow.isBatched ? "directions" : "scan_input_directions");
    flow.stackAxes = listOf(node, "scan_output_axes");
    flow.stackDirections = listOf(node, "scan_output_directions");
    return flow;
}

/// Inputs: a list, then lists and values; the body has an input for each.
std::optional<ControlFlow> readMap(const NodeDef &node, std::size_t own)
{
    Dims places;
    for (std::size_t k = 0; k < own; ++k) {
        if (node.slots[k] != k)
            return std::nullopt;
        places.push_back(static_cast<std::int64_t>(k));
    }
    auto locations = locationsOf(*node.subgraphs[0], places, own);
    if (!locations || own == 0)
        return std::nullopt;
    ControlFlow flow;
    flow.kind = ControlFlow::Kind::Map;
    flow.inputs = static_cast<std::int64_t>(own);
    flow.bodyLocations = std::move(*locations);
    return flow;
}

/// The body has one input for each of the node's.
std::optional<ControlFlow> readCall(const NodeDef &node)
{
    if (node.subgraphs.size() != 1)
        return std::nullopt;
    Dims places;
    for (std::size_t k = 0; k < node.slots.size(); ++k)
        places.push_back(static_cast<std::int64_t>(k));
    auto locations = locationsOf(*node.subgraphs[0], places, places.size());
    if (!locations)
        return std::nullopt;
    ControlFlow flow;
    flow.kind = ControlFlow::Kind::Call;
    if (node.attributes.find(kStandsKey) == nullptr)
        flow.outputs = std::ssize(node.subgraphs[0]->heads());
    flow.bodyLocations = std::move(*locations);
    return flow;
}

} // namespace

ops::Operator readControlFlow(const NodeDef &node, int opset)
{
    const std::size_t own = ownInputs(node);
    std::optional<ControlFlow> flow;
    if (node.attributes.find(kCallKey) != nullptr)
        flow = readCall(node);
    else if (node.op == "If")
        flow = readIf(node, own);
    else if (node.subgraphs.size() == 1)
        flow = node.op == "Loop"       ? readLoop(node, own)
            : node.op == "SequenceMap" ? readMap(node, own)
                                       : readScan(node, own, opset);
    return flow ? ops::Operator(std::move(*flow)) : ops::Operator(ops::Opaque{node.op});
}

} // namespace halftone::dialect::onnx
