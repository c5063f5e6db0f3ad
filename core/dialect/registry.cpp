#include "core/dialect/registry.h"

#include "core/dialect/bound_axes.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/mxnet/mxnet_dialect.h"
#include "core/dialect/needed_version.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/coded_pairs.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/raise_opset.h"
#include "core/dialect/onnx/raised_names.h"
#include "core/dialect/overridable.h"
#include "core/dialect/raised_parts.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

namespace halftone::dialect {

std::span<const Dialect *const> allDialects()
{
    static const std::array<const Dialect *, 2> kDialects{&mxnet::mxnetDialect(),
                                                          &onnx::onnxDialect(onnx::kNewestOpset)};
    return kDialects;
}

const Dialect &defaultDialect()
{
    return *allDialects().front();
}

const Dialect *dialectNamed(std::string_view name)
{
    const auto found = std::ranges::find(allDialects(), name, &Dialect::name);
    return found == allDialects().end() ? nullptr : *found;
}

namespace {

bool isOnnx(const Dialect &dialect)
{
    return dialect.name() == onnx::onnxDialect(onnx::kNewestOpset).name();
}

/// Does the node give one value, called `base` and `suffix`?
bool gives(const graph::Graph &graph, graph::NodeId id, const std::string &base, std::string_view suffix)
{
    const graph::NodeDef &node = graph.node(id);
    return !node.isVariable() && node.outputs.size() == 1
        && node.outputs[0].size() == base.size() + suffix.size() && node.outputs[0].starts_with(base)
        && node.outputs[0].ends_with(suffix);
}

} // namespace

const CodedPairs *codedPairsOf(const Dialect &dialect)
{
    return isOnnx(dialect) ? &onnx::codedPairs() : nullptr;
}

NeededVersion neededVersion(const graph::Graph &graph, tensor::DType target, const IsLowered &isLowered)
{
    return isOnnx(of(graph)) ? onnx::neededOpset(graph, target, isLowered) : NeededVersion();
}

std::optional<std::vector<std::string>> boundAxes(const graph::Graph &graph, const graph::NodeDef &variable)
{
    const std::string *const text = isOnnx(of(graph)) ? variable.attributes.find(onnx::kShapeKey) : nullptr;
    auto axes = text ? onnx::textsIn(*text) : std::nullopt;
    if (axes)
        std::ranges::replace(*axes, "?", ""); // one without number or name
    return axes;
}

DefaultValue defaultValueOf(const graph::Graph &graph, graph::NodeId id)
{
    if (!graph.isVariable(id) || !isOnnx(of(graph)))
        return DefaultValue::None;
    const std::string *const text = graph.node(id).attributes.find(onnx::kDefaultKey);
    return text == nullptr                   ? DefaultValue::None
        : *text == onnx::kOverridableDefault ? DefaultValue::Overridable
                                             : DefaultValue::Listed;
}

std::vector<graph::NodeId> raisedParts(const graph::Graph &graph)
{
    std::vector<graph::NodeId> parts(graph.nodeCount());
    std::iota(parts.begin(), parts.end(), graph::NodeId{0});
    if (graph.dialect() == nullptr || !isOnnx(of(graph)))
        return parts;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        const auto inputs = graph.inputs(id);
        if (node.isVariable() || node.outputs.size() != 1 || inputs.size() != 2
            || !gives(graph, inputs[0].node, node.outputs[0], onnx::kFlatSuffix)
            || !gives(graph, inputs[1].node, node.outputs[0], onnx::kShapeSuffix))
            continue;
        const graph::NodeId whole = inputs[0].node;
        if (graph.inputs(whole).empty()
            || !gives(graph, graph.inputs(whole)[0].node, node.outputs[0], onnx::kMatrixSuffix))
            continue;
        parts[id] = parts[inputs[1].node] = parts[graph.inputs(whole)[0].node] = whole;
    }
    return parts;
}

} // namespace halftone::dialect
