#include "core/dialect/onnx/raise_opset.h"

#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/raised_names.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using graph::NodeId;

/// Opsets from which on operators take bfloat16: those that compute like Add and MatMul, and those like Conv.
constexpr int kOpsetOfSums = 13;
constexpr int kOpsetOfLayers = 22;
constexpr int kOpsetOfBodies = 16; ///< If, Loop and Scan give it

/// Before opset 13 they took all axes from theirs on for one.
constexpr std::array<std::string_view, 3> kRedefined{"Softmax", "LogSoftmax", "Hardmax"};
constexpr int kOpsetOfOneAxis = 13;

const OpInfo *infoOf(int opset, std::string_view op)
{
    const auto found = operatorsOf(opset).find(op);
    return found == operatorsOf(opset).end() ? nullptr : found->second;
}

bool isRedefined(std::string_view op, int from, int to)
{
    return from < kOpsetOfOneAxis && to >= kOpsetOfOneAxis
        && std::ranges::find(kRedefined, op) != kRedefined.end();
}

/// Before opset 11 by scales alone, each place taken from below; as Upsample until 10.
constexpr int kOpsetOfPlaces = 11;

bool isScaled(std::string_view op, int from, int to)
{
    return from < kOpsetOfPlaces && to >= kOpsetOfPlaces && (op == "Upsample" || op == "Resize");
}

/// An attribute whose default is another from an opset on: what it was is written.
struct OldDefault
{
    std::string_view op;
    int until; ///< the first opset that has another
    std::string_view attribute;
    std::string_view value;
};
constexpr std::array<OldDefault, 2> kOldDefaults{
    {{"RoiAlign", 16, "coordinate_transformation_mode", "output_half_pixel"}, {"DFT", 20, "axis", "1"}}};

/// A value of an attribute that is called otherwise from an opset on.
struct OldValue
{
    std::string_view op;
    int until;
    std::string_view attribute;
    std::string_view before; ///< also where nothing is written, if it is the default
    std::string_view now;
};
constexpr std::array<OldValue, 2> kOldValues{
    {{"GridSample", 20, "mode", "bilinear", "linear"}, {"GridSample", 20, "mode", "bicubic", "cubic"}}};

constexpr int kOpsetOfScatterElements = 11;
constexpr int kOpsetOfPlainScan = 9;
constexpr int kOpsetOfFewerPlaces = 13; ///< of Resize
constexpr int kOpsetOfTraining = 14; ///< of BatchNormalization
constexpr int kOpsetOfChannelScales = 21; ///< of GroupNormalization

bool crosses(int opset, int from, int to)
{
    return from < opset && to >= opset;
}

/// Its scales stand behind the region of interest, which it has not.
void scaleByPlaces(NodeDef &def)
{
    def.op = "Resize";
    def.attributes.set("coordinate_transformation_mode", "asymmetric");
    def.attributes.set("nearest_mode", "floor");
    if (def.attributes.find("scales") == nullptr)
        def.slots = {0, 2};
}

/// The element at floor((i + 1/2) / scale) is the nearest to (i + 1/2) / scale - 1/2 where halves go up.
void placeByHalves(NodeDef &def)
{
    const auto is = [&def](std::string_view key, std::string_view text) {
        const std::string *const written = def.attributes.find(key);
        return written != nullptr && *written == text;
    };
    const bool isNearest = def.attributes.find("mode") == nullptr || is("mode", "nearest");
    if (!isNearest || !is("coordinate_transformation_mode", "tf_half_pixel_for_nn")
        || !is("nearest_mode", "floor"))
        return;
    def.attributes.set("coordinate_transformation_mode", "half_pixel");
    def.attributes.set("nearest_mode", "round_prefer_ceil");
}

/// What the node is called and says in the newer opset; null: as it was.
std::shared_ptr<NodeDef> rewritten(const NodeDef &node, int from, int to)
{
    const OpInfo *const before = infoOf(from, node.op);
    if (before == nullptr || before == infoOf(to, node.op))
        return nullptr;
    auto def = std::make_shared<NodeDef>(node);
    if (isScaled(node.op, from, to))
        scaleByPlaces(*def);
    if (node.op == "Resize" && crosses(kOpsetOfFewerPlaces, from, to))
        placeByHalves(*def);
    if (node.op == "Scatter" && crosses(kOpsetOfScatterElements, from, to))
        def->op = "ScatterElements";
    if (node.op == "GroupNormalization" && crosses(kOpsetOfChannelScales, from, to))
        def->attributes.set(std::string(kGroupScalesKey), "1");
    if (node.op == "Scan" && crosses(kOpsetOfPlainScan, from, to))
        def->attributes.set(std::string(kBatchedKey), "1");
    for (const OldDefault &old : kOldDefaults)
        if (old.op == node.op && crosses(old.until, from, to)
            && node.attributes.find(old.attribute) == nullptr)
            def->attributes.set(old.attribute, std::string(old.value));
    for (const OldValue &old : kOldValues)
        if (old.op == node.op && crosses(old.until, from, to)
            && before->valueOf(node.attributes, old.attribute) == old.before)
            def->attributes.set(old.attribute, std::string(old.now));
    for (const MovedAttribute &moved : movedAttributes()) {
        const std::string *const written = node.attributes.find(moved.attribute);
        if (moved.op != node.op || !crosses(moved.until, from, to) || written == nullptr
            || moved.attribute == moved.input)
            continue;
        const bool isList = moved.type == AttributeType::Tuple;
        std::string text = isList ? '[' + *written + ']' : *written;
        def->attributes.erase(moved.attribute);
        def->attributes.set(moved.input, std::move(text));
    }
    return def;
}

/// What no rewriting can express; empty: nothing.
std::string otherMeaning(const NodeDef &node, int from, int to)
{
    if (node.op == "Scan" && crosses(kOpsetOfPlainScan, from, to) && node.slotOf(0) == 0)
        return "uses sequence lengths, which are not supported there";
    const bool hasStatistics
        = std::ranges::count_if(node.outputs, [](const std::string &name) { return !name.empty(); }) > 1;
    if (node.op == "BatchNormalization" && crosses(kOpsetOfTraining, from, to) && hasStatistics)
        return "outputs statistics that have a different meaning there";
    const std::string *const places = node.attributes.find("coordinate_transformation_mode");
    if (node.op == "Resize" && crosses(kOpsetOfFewerPlaces, from, to) && places != nullptr
        && *places == "tf_half_pixel_for_nn")
        return "does not support coordinate_transformation_mode " + *places + " there";
    return {};
}

/// Why a node cannot be taken over into a newer opset; empty if it can.
std::string obstacle(const NodeDef &old, int from, int to)
{
    const OpInfo *const before = infoOf(from, old.op);
    const std::shared_ptr<NodeDef> made = rewritten(old, from, to);
    if (made == nullptr)
        return {};
    const NodeDef &node = *made;
    const OpInfo *const after = infoOf(to, node.op);
    if (after == nullptr || after->isDeprecated)
        return "does not exist there";
    if (std::string other = otherMeaning(node, from, to); !other.empty() || isScaled(old.op, from, to))
        return other;
    for (const auto &[key, value] : node.attributes) {
        const AttributeSpec *const spec = before->attribute(key);
        const bool isInput = std::ranges::find(after->inputs, key, &Slot::name) != after->inputs.end();
        const bool isOfBatches = node.op == "Scan" && key == "directions"; // which the inner one has
        if (spec != nullptr && after->attribute(key) == nullptr && !isInput && !isOfBatches
            && spec->defaultValue != value)
            return "has no attribute " + key + " there";
    }
    if (isRedefined(node.op, from, to))
        return {};
    for (const AttributeSpec &spec : before->attributes) {
        const AttributeSpec *const other = after->attribute(spec.name);
        if (other != nullptr && node.attributes.find(spec.name) == nullptr
            && other->defaultValue != spec.defaultValue)
            return "relies on the default of attribute " + spec.name + ", which differs there";
    }
    return {};
}

Error refused(const NodeDef &node, const std::string &what, int to, const std::string &why)
{
    return unsupported(
        node.name, "opset " + std::to_string(to) + " is needed for " + why + ", but " + node.op + ' ' + what,
        "; export the model in that opset");
}

Result<void> check(const graph::Graph &graph, int from, int to, const std::string &why)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        if (node.isVariable())
            continue;
        if (const std::string what = obstacle(node, from, to); !what.empty())
            return refused(node, what, to, why);
        const bool isCall = node.attributes.find(kCallKey) != nullptr;
        if (isCall && node.attributes.find(kOwnCallKey) == nullptr) // nothing of it is in the file
            continue;
        for (const auto &body : node.subgraphs) {
            // A function has an opset of its own, and is raised with the model that holds it.
            const int own = isCall ? opsetOf(*body->dialect()) : from;
            if (own >= to)
                continue;
            auto checked = check(*body, own, to, why);
            if (!checked.ok() && isCall) {
                Error error = std::move(checked).error();
                error.where = node.name + ", in the function " + node.op + ": " + error.where;
                return error;
            }
            HALFTONE_CHECK(std::move(checked));
        }
    }
    return {};
}

/// An operator that takes bfloat16 only since kOpsetOfLayers and computes in it; empty: none.
std::string layerIn(const graph::Graph &graph, const IsLowered &isLowered)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        const OpInfo *const info = node.isVariable() ? nullptr : infoOf(kOpsetOfLayers, node.op);
        if (info != nullptr && info->since == kOpsetOfLayers && isLowered(graph, id))
            return node.op;
        if (node.attributes.find(kCallKey) != nullptr)
            continue;
        for (const auto &body : node.subgraphs)
            if (std::string found = layerIn(*body, isLowered); !found.empty())
                return found;
    }
    return {};
}

/// An operator that runs a body, and may come to give bfloat16; empty: none.
std::string bodyIn(const graph::Graph &graph, const IsLowered &isLowered)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id)
        if (const NodeDef &node = graph.node(id);
            !node.subgraphs.empty() && node.attributes.find(kCallKey) == nullptr && isLowered(graph, id))
            return node.op;
    return {};
}

/// Do the built-in lists let the operator compute in bfloat16? Control flow is asked by its bodies.
bool mayBeLowered(const graph::Graph &graph, NodeId id)
{
    const NodeDef &node = graph.node(id);
    return !node.subgraphs.empty() || classOf(node.op).bfloat16 != "fp32";
}

/// Gives the node a matrix, so that an axis and all behind it are the last?
bool isMatrix(const graph::Graph &graph, const graph::Entry &value)
{
    const std::string &op = graph.node(value.node).op;
    return !graph.isVariable(value.node) && (op == "Flatten" || op == "Gemm");
}

/// One over an axis and all behind it says so from now on, where that is not the last axis anyway.
NodeDefPtr taken(const graph::Graph &graph, NodeId id, int from, int to)
{
    const NodeDefPtr &node = graph.sharedNode(id);
    if (node->isVariable())
        return node;
    if (!isRedefined(node->op, from, to)) {
        const NodeDefPtr made = rewritten(*node, from, to);
        return made ? made : node;
    }
    const std::string *const written = node->attributes.find("axis");
    const std::string axis = written ? *written : "1";
    if (axis == "-1")
        return node;
    auto def = std::make_shared<NodeDef>(*node);
    if (axis == "1" && isMatrix(graph, graph.inputs(id)[0])) {
        def->attributes.set("axis", "-1");
    } else {
        def->attributes.set("axis", axis);
        def->attributes.set(std::string(kFlattenedKey), "1");
    }
    return def;
}

constexpr std::array<MovedAttribute, 5> kMoved{{{"Clip", 11, "min", "min", AttributeType::Real},
                                                {"Clip", 11, "max", "max", AttributeType::Real},
                                                {"Pad", 11, "value", "constant_value", AttributeType::Real},
                                                {"TopK", 10, "k", "K", AttributeType::Tuple},
                                                {"DFT", 20, "axis", "axis", AttributeType::Integer}}};

/// Does the node give one value, called `base` and `suffix`?
bool givesNamed(const graph::Graph &graph, graph::NodeId id, const std::string &base, std::string_view suffix)
{
    const graph::NodeDef &node = graph.node(id);
    return !node.isVariable() && node.outputs.size() == 1
        && node.outputs[0].size() == base.size() + suffix.size() && node.outputs[0].starts_with(base)
        && node.outputs[0].ends_with(suffix);
}

} // namespace

std::span<const MovedAttribute> movedAttributes()
{
    return kMoved;
}

NeededVersion neededOpset(const graph::Graph &graph, tensor::DType target, const IsLowered &isLowered)
{
    if (target != tensor::DType::BF16)
        return {1, {}};
    if (const std::string layer = layerIn(graph, isLowered); !layer.empty())
        return {kOpsetOfLayers, "bfloat16 in " + layer};
    if (const std::string body = bodyIn(graph, isLowered); !body.empty())
        return {kOpsetOfBodies, "bfloat16 in " + body};
    return {kOpsetOfSums, "bfloat16"};
}

Result<std::optional<Raised>> raisedOpset(const graph::Graph &graph, int from, tensor::DType target,
                                          int wanted)
{
    if (wanted != 0 && (wanted < kOldestOpset || wanted > kNewestOpset))
        return badCall(Field::Opset, std::to_string(wanted),
                       std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
    const NeededVersion needed = neededOpset(graph, target, mayBeLowered);
    const int to = std::max(needed.number, wanted);
    if (from >= to)
        return std::optional<Raised>();
    const std::string why = needed.number < wanted ? "the requested opset" : needed.why;
    HALFTONE_CHECK(check(graph, from, to, why));
    const auto takeOver = [from, to](const graph::Graph &in, NodeId id) { return taken(in, id, from, to); };
    return std::optional(Raised{graph::Graph::inDialect(graph, onnxDialect(to), takeOver), why});
}

std::vector<graph::NodeId> partsOfRaised(const graph::Graph &graph)
{
    std::vector<graph::NodeId> parts(graph.nodeCount());
    std::iota(parts.begin(), parts.end(), graph::NodeId{0});
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const auto inputs = graph.inputs(id);
        if (node.isVariable() || node.outputs.size() != 1 || inputs.size() != 2
            || !givesNamed(graph, inputs[0].node, node.outputs[0], kFlatSuffix)
            || !givesNamed(graph, inputs[1].node, node.outputs[0], kShapeSuffix))
            continue;
        const graph::NodeId whole = inputs[0].node;
        if (graph.inputs(whole).empty()
            || !givesNamed(graph, graph.inputs(whole)[0].node, node.outputs[0], kMatrixSuffix))
            continue;
        parts[id] = parts[inputs[1].node] = parts[graph.inputs(whole)[0].node] = whole;
    }
    return parts;
}

} // namespace halftone::dialect::onnx
