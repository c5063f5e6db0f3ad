#include "core/quantize/quantize_params.h"

#include "core/dialect/dialect.h"
#include "core/dialect/quantized_forms.h"
#include "core/dialect/stored_arrays.h"
#include "core/graph/traverse.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>

namespace halftone::quantize {
namespace {

using graph::NodeId;
using tensor::Array;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Longest dot product of int8 and uint8 that an int32 holds: 2^31 / (128 · 255).
constexpr std::int64_t kLongestDot = 65793;

Array scalar(std::string name, float value)
{
    std::vector<std::byte> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    Array array;
    array.name = std::move(name);
    array.shape = Shape{1};
    array.values = Tensor::owning(DType::F32, array.shape, std::move(bytes));
    return array;
}

Result<tensor::FormCache::Form> codesOf(const Array &source, const OfflineParameter &parameter)
{
    if (source.storage != tensor::Storage::Dense || source.values.dtype() != DType::F32)
        return badInput(parameter.name, std::string(tensor::nameOf(source.values.dtype())),
                        "a dense float32 array");
    const std::vector<float> values = source.values.values<float>();
    float largest = 0;
    bool isFinite = true;
    for (const float value : values) {
        isFinite &= std::isfinite(value);
        largest = std::max(largest, std::abs(value));
    }
    if (!isFinite)
        return badInput(parameter.name, "NaN or infinity", "finite values");
    const float scale = largest > 0 ? 127 / largest : 0;
    std::vector<std::byte> bytes(values.size());
    constexpr float kToEven = 12582912; // 1.5 · 2^23: behind the sum with it there is no place for a fraction
    for (std::size_t i = 0; i < values.size(); ++i) {
        const float code = std::clamp(values[i] * scale, -127.0F, 127.0F) + kToEven - kToEven;
        bytes[i] = static_cast<std::byte>(static_cast<std::int8_t>(code));
    }
    return tensor::FormCache::Form{Tensor::owning(DType::I8, source.shape, std::move(bytes)), {}, largest};
}

/// The codes and their range.
Result<std::vector<Array>> codeArrays(const dialect::Dialect &dialect, const Array &source,
                                      const OfflineParameter &parameter, tensor::FormCache &forms)
{
    const tensor::FormCache::Form *const known = forms.find(source.values, DType::I8);
    HALFTONE_TRY(const tensor::FormCache::Form form,
                 known ? Result<tensor::FormCache::Form>(*known) : codesOf(source, parameter));
    if (!known)
        forms.keep(source.values, DType::I8, form);
    Array array;
    array.name = dialect.arrayName(parameter.codes, false);
    array.shape = source.shape;
    array.values = form.values;
    return std::vector<Array>{
        std::move(array),
        scalar(dialect.arrayName(dialect.quantizedForms()->lowName(parameter.codes), false), -form.largest),
        scalar(dialect.arrayName(dialect.quantizedForms()->highName(parameter.codes), false), form.largest)};
}

void noteLongSums(const graph::Graph &graph, const dialect::StoredArrays &stored,
                  std::vector<std::string> &notes)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &node = graph.node(id);
        if (graph.inputs(id).size() < 2 || !dialect::of(graph).quantizedForms()->isInt8Product(node))
            continue;
        const auto weight = stored.find(graph.node(graph.inputs(id)[1].node).name);
        if (weight == stored.end() || weight->second->shape.rank() == 0 || weight->second->shape[0] == 0)
            continue;
        const std::int64_t length
            = weight->second->shape.elementCount().value_or(0) / weight->second->shape[0];
        if (length > kLongestDot)
            notes.push_back(node.name + " sums " + std::to_string(length)
                            + " products, which may overflow 32 bits");
    }
}

} // namespace

Result<std::vector<Array>> quantizedParameters(const graph::Model &model, const graph::Graph &quantized,
                                               const std::vector<OfflineParameter> &offline,
                                               std::vector<std::string> &notes, tensor::FormCache &forms)
{
    dialect::StoredArrays stored = dialect::storedArrays(model);
    std::unordered_map<std::string_view, const OfflineParameter *> codes;
    for (const OfflineParameter &parameter : offline)
        codes.emplace(parameter.codes, &parameter);
    std::vector<Array> arrays;
    for (const NodeId id : graph::postOrder(quantized)) {
        const graph::NodeDef &node = quantized.node(id);
        if (!node.isVariable())
            continue;
        if (const auto parameter = codes.find(node.name); parameter != codes.end()) {
            HALFTONE_TRY(std::vector<Array> parts,
                         codeArrays(dialect::of(quantized), *stored.at(parameter->second->name),
                                    *parameter->second, forms));
            std::ranges::move(parts, std::back_inserter(arrays));
        } else if (const auto array = stored.find(node.name); array != stored.end()) {
            arrays.push_back(*array->second);
        }
    }
    for (const Array &array : arrays)
        stored.insert_or_assign(dialect::variableOf(model.graph, array.name), &array);
    noteLongSums(quantized, stored, notes);
    return arrays;
}

} // namespace halftone::quantize
