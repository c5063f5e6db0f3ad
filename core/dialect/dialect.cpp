#include "core/dialect/dialect.h"

#include "core/dialect/bound_axes.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/raised_parts.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace halftone::dialect {

Result<ops::Operator> Dialect::readWith(const graph::NodeDef &node, std::span<const tensor::Tensor>) const
{
    return readFused(node);
}

graph::NodeDefPtr Dialect::makeOperatorNode(OperatorText text, std::string name, std::uint32_t) const
{
    return std::make_shared<const graph::NodeDef>(
        graph::NodeDef{std::move(text.op), std::move(name), std::move(text.attributes), {}});
}

std::size_t outputCountOf(const OpInfo *info, const graph::NodeDef &node)
{
    return std::max(info ? info->outputCount(node.attributes) : std::size_t{1}, node.outputs.size());
}

FusedFacts Dialect::fusedFacts(const graph::NodeDef &) const
{
    return {};
}

tensor::Shape Dialect::declaredHead(const graph::Graph &, std::size_t) const
{
    return {};
}

tensor::Shape Dialect::filledShape(const graph::Graph &, const graph::NodeDef &) const
{
    return {};
}

// NOLINTBEGIN(performance-unnecessary-value-param): formats that have such nodes keep what they are given
graph::NodeDefPtr Dialect::withConstant(const graph::NodeDefPtr &node, tensor::Tensor) const
{
    return node;
}

graph::NodeDefPtr Dialect::makeConstant(std::string, tensor::Tensor) const
{
    return nullptr;
}

// NOLINTEND(performance-unnecessary-value-param)

Result<std::optional<tensor::Tensor>> Dialect::constantOf(const graph::NodeDef &) const
{
    return std::optional<tensor::Tensor>();
}

Result<std::optional<Raised>> Dialect::raised(const graph::Graph &, tensor::DType, int wanted) const
{
    if (wanted > 0)
        return badCall(Field::Opset,
                       "not available for " + std::string(title()) + " models, which have no opset");
    return std::optional<Raised>();
}

NeededVersion Dialect::neededVersion(const graph::Graph &, tensor::DType, const IsLowered &) const
{
    return {};
}

std::vector<graph::NodeId> Dialect::raisedParts(const graph::Graph &graph) const
{
    std::vector<graph::NodeId> parts(graph.nodeCount());
    std::iota(parts.begin(), parts.end(), graph::NodeId{0});
    return parts;
}

std::optional<std::vector<std::string>> Dialect::boundAxes(const graph::NodeDef &) const
{
    return std::nullopt;
}

DefaultValue Dialect::defaultValue(const graph::NodeDef &) const
{
    return DefaultValue::None;
}

std::string Dialect::foreignType(const graph::NodeDef &) const
{
    return {};
}

std::span<const std::string_view> Dialect::listVersions() const
{
    return {};
}

std::string Dialect::listResource(tensor::DType, std::string_view) const
{
    return {};
}

bool Dialect::isJudgedByBody(std::string_view) const
{
    return false;
}

const CodedPairs *codedPairsOf(const Dialect &dialect)
{
    return dialect.codedPairs();
}

NeededVersion neededVersion(const graph::Graph &graph, tensor::DType target, const IsLowered &isLowered)
{
    return of(graph).neededVersion(graph, target, isLowered);
}

std::optional<std::vector<std::string>> boundAxes(const graph::Graph &graph, const graph::NodeDef &variable)
{
    return of(graph).boundAxes(variable);
}

DefaultValue defaultValueOf(const graph::Graph &graph, graph::NodeId id)
{
    return graph.isVariable(id) ? of(graph).defaultValue(graph.node(id)) : DefaultValue::None;
}

std::vector<graph::NodeId> raisedParts(const graph::Graph &graph)
{
    return graph.dialect() == nullptr ? std::vector<graph::NodeId>() : of(graph).raisedParts(graph);
}

} // namespace halftone::dialect
