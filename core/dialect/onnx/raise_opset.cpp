#include "core/dialect/onnx/raise_opset.h"

#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::dialect::onnx {
namespace {

using graph::NodeDef;
using graph::NodeDefPtr;
using graph::NodeId;

/// Opsets from which on operators take bfloat16: those that compute like Add and MatMul, and those like Conv.
constexpr int kOpsetOfSums = 13;
constexpr int kOpsetOfLayers = 22;

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

/// Why a node cannot be taken over into a newer opset; empty if it can.
std::string obstacle(const NodeDef &node, int from, int to)
{
    const OpInfo *const before = infoOf(from, node.op);
    const OpInfo *const after = infoOf(to, node.op);
    if (before == nullptr || before == after || isScaled(node.op, from, to))
        return {};
    if (after == nullptr || after->isDeprecated)
        return "is not an operator there";
    for (const auto &[key, value] : node.attributes) {
        const AttributeSpec *const spec = before->attribute(key);
        const bool isInput = std::ranges::find(after->inputs, key, &Slot::name) != after->inputs.end()
            && (spec == nullptr || spec->type != AttributeType::Real || node.op == "Dropout");
        if (spec != nullptr && after->attribute(key) == nullptr && !isInput && spec->defaultValue != value)
            return "has no attribute " + key + " there";
    }
    if (isRedefined(node.op, from, to))
        return {};
    for (const AttributeSpec &spec : before->attributes) {
        const AttributeSpec *const other = after->attribute(spec.name);
        if (other != nullptr && node.attributes.find(spec.name) == nullptr
            && other->defaultValue != spec.defaultValue)
            return "takes its attribute " + spec.name + " for another there";
    }
    return {};
}

Result<void> check(const graph::Graph &graph, int from, int to, const std::string &why)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        if (node.isVariable())
            continue;
        if (const std::string what = obstacle(node, from, to); !what.empty())
            return unsupported(node.name,
                               node.op + ' ' + what + ": opset " + std::to_string(to) + ", for " + why,
                               "a model of that opset");
        if (node.attributes.find(kCallKey) != nullptr) // a function has an opset of its own
            continue;
        for (const auto &body : node.subgraphs)
            HALFTONE_CHECK(check(*body, from, to, why));
    }
    return {};
}

/// An operator that takes bfloat16 only since kOpsetOfLayers and would be asked for it; empty: none.
std::string layerIn(const graph::Graph &graph)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const NodeDef &node = graph.node(id);
        const OpInfo *const info = node.isVariable() ? nullptr : infoOf(kOpsetOfLayers, node.op);
        if (info != nullptr && info->since == kOpsetOfLayers && classOf(node.op).bfloat16 != "fp32")
            return node.op;
        if (node.attributes.find(kCallKey) != nullptr)
            continue;
        for (const auto &body : node.subgraphs)
            if (std::string found = layerIn(*body); !found.empty())
                return found;
    }
    return {};
}

/// Gives the node a matrix, so that an axis and all behind it are the last?
bool isMatrix(const graph::Graph &graph, const graph::Entry &value)
{
    const std::string &op = graph.node(value.node).op;
    return !graph.isVariable(value.node) && (op == "Flatten" || op == "Gemm");
}

/// Its scales stand behind the region of interest, which it has not.
NodeDefPtr takenScaled(const NodeDef &node)
{
    auto def = std::make_shared<NodeDef>(node);
    def->op = "Resize";
    def->attributes.set("coordinate_transformation_mode", "asymmetric");
    def->attributes.set("nearest_mode", "floor");
    if (node.attributes.find("scales") == nullptr)
        def->slots = {0, 2};
    return def;
}

/// One over an axis and all behind it says so from now on, where that is not the last axis anyway.
NodeDefPtr taken(const graph::Graph &graph, NodeId id, int from, int to)
{
    const NodeDefPtr &node = graph.sharedNode(id);
    if (node->isVariable())
        return node;
    if (isScaled(node->op, from, to))
        return takenScaled(*node);
    if (!isRedefined(node->op, from, to))
        return node;
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

} // namespace

Result<std::optional<Raised>> raisedOpset(const graph::Graph &graph, int from, tensor::DType target,
                                          int wanted)
{
    if (wanted != 0 && (wanted < kOldestOpset || wanted > kNewestOpset))
        return badCall(Field::Opset, std::to_string(wanted),
                       std::to_string(kOldestOpset) + " to " + std::to_string(kNewestOpset));
    const std::string layer = target == tensor::DType::BF16 ? layerIn(graph) : std::string();
    const int needed = target != tensor::DType::BF16 ? 1 : layer.empty() ? kOpsetOfSums : kOpsetOfLayers;
    const int to = std::max(needed, wanted);
    if (from >= to)
        return std::optional<Raised>();
    const std::string why = needed < wanted ? "the requested opset"
        : layer.empty()                     ? "bfloat16"
                                            : "bfloat16 in " + layer;
    HALFTONE_CHECK(check(graph, from, to, why));
    const auto takeOver = [from, to](const graph::Graph &in, NodeId id) { return taken(in, id, from, to); };
    return std::optional(Raised{graph::Graph::inDialect(graph, onnxDialect(to), takeOver), why});
}

} // namespace halftone::dialect::onnx
