#include "core/compare/output_rows.h"

#include "core/compare/head_kind.h"
#include "core/compare/layer_rows.h"
#include "core/tensor/elements.h"

#include <algorithm>

namespace halftone::compare {
namespace {

using tensor::DType;
using tensor::Tensor;

Scores scoresOf(const graph::Graph &graph, graph::Entry head)
{
    return headKindOf(graph, head) == HeadKind::Probabilities ? Scores::Probabilities : Scores::Logits;
}

double halfOfTheBits(std::span<const LayerErrors> layers)
{
    constexpr double kDecibelsPerBit = 6.0206; // 20 log10(2)
    int bits = 24;
    for (const LayerErrors &layer : layers) {
        if (tensor::fitsFloat32(layer.dtype))
            bits = std::min(bits, tensor::rangeOf(layer.dtype).significantBits);
        else if (layer.dtype == DType::I8 || layer.dtype == DType::U8)
            bits = std::min(bits, 8);
    }
    return kDecibelsPerBit * bits / 2;
}

bool hasDiverged(const LayerErrors &layer, double threshold)
{
    const auto &figures = layer.cumulative;
    if (layer.shapesDiffer)
        return true;
    return figures && figures->count > 0
        && (figures->nan > 0 || figures->overflow > 0 || figures->sqnrDb < threshold);
}

void addAgreement(const Tensor &reference, const Tensor &other, ClassAgreement &agreement)
{
    const auto rows = static_cast<std::size_t>(reference.shape()[0]);
    const auto classes = static_cast<std::size_t>(reference.shape()[1]);
    std::vector<float> r(classes);
    std::vector<float> x(classes);
    const auto row = [&](const Tensor &tensor, std::size_t at, std::vector<float> &out) {
        const std::size_t offset = at * classes * tensor::sizeOf(tensor.dtype());
        tensor::widen(tensor.dtype(), tensor.bytes().data() + offset, classes, out.data());
    };
    for (std::size_t at = 0; at < rows; ++at) {
        row(reference, at, r);
        row(other, at, x);
        agreement.add(r, x);
    }
}

} // namespace

OutputRows::OutputRows(const graph::Graph &reference)
{
    for (const graph::Entry &head : reference.heads())
        m_outputs.push_back({{}, ClassAgreement(scoresOf(reference, head)), false});
}

void OutputRows::add(const LayerCompare::Heads &heads)
{
    for (std::size_t k = 0; k < m_outputs.size(); ++k)
        add(k, heads.reference[k], heads.other[k]);
}

void OutputRows::add(std::size_t head, const Tensor &reference, const Tensor &other)
{
    Output &output = m_outputs[head];
    if (!addErrors(reference, other, output.metrics))
        output.shapesDiffer = true;
    else if (reference.shape().rank() == 2 && reference.shape()[1] > 1)
        addAgreement(reference, other, output.agreement);
}

std::vector<OutputErrors> OutputRows::outputs() const
{
    std::vector<OutputErrors> outputs;
    for (const Output &output : m_outputs)
        outputs.push_back({output.metrics.figures(), output.agreement.result(), output.shapesDiffer});
    return outputs;
}

std::vector<OutputParts> OutputRows::parts() const
{
    std::vector<OutputParts> parts;
    for (const Output &output : m_outputs)
        parts.push_back({output.metrics.parts(), output.agreement.parts(), output.shapesDiffer});
    return parts;
}

std::optional<LayerErrors> uncleanHead(const graph::Graph &reference, std::span<const Tensor> heads)
{
    for (std::size_t k = 0; k < heads.size(); ++k) {
        tensor::ErrorMetrics none;
        const std::uint64_t notFinite
            = tensor::isFloat(heads[k].dtype()) ? addErrors(heads[k], heads[k], none).value_or(0) : 0;
        if (notFinite == 0)
            continue;
        LayerErrors unclean;
        unclean.node = reference.heads()[k].node;
        unclean.output = reference.heads()[k].output;
        unclean.notFinite = notFinite;
        return unclean;
    }
    return std::nullopt;
}

Comparison conclude(std::vector<LayerErrors> layers, std::vector<OutputErrors> outputs,
                    std::optional<double> threshold)
{
    Comparison result;
    result.layers = std::move(layers);
    result.outputs = std::move(outputs);
    result.threshold = threshold.value_or(halfOfTheBits(result.layers));
    for (std::size_t k = 0; k < result.layers.size(); ++k) {
        if (!result.firstUnclean && result.layers[k].notFinite > 0)
            result.firstUnclean = k;
        if (!result.firstDivergence && hasDiverged(result.layers[k], result.threshold))
            result.firstDivergence = k;
    }
    return result;
}

} // namespace halftone::compare
