#include "core/dialect/registry.h"

#include "core/dialect/bound_axes.h"
#include "core/dialect/coded_pairs.h"
#include "core/dialect/dialect.h"
#include "core/dialect/mxnet/mxnet_dialect.h"
#include "core/dialect/onnx/attribute_list.h"
#include "core/dialect/onnx/coded_pairs.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"

#include <algorithm>
#include <array>

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

} // namespace

const CodedPairs *codedPairsOf(const Dialect &dialect)
{
    return isOnnx(dialect) ? &onnx::codedPairs() : nullptr;
}

std::optional<std::vector<std::string>> boundAxes(const graph::Graph &graph, const graph::NodeDef &variable)
{
    const std::string *const text = isOnnx(of(graph)) ? variable.attributes.find(onnx::kShapeKey) : nullptr;
    auto axes = text ? onnx::textsIn(*text) : std::nullopt;
    if (axes)
        std::ranges::replace(*axes, "?", ""); // one without number or name
    return axes;
}

} // namespace halftone::dialect
