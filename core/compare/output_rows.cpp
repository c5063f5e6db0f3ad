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

/// Rows of scores lie along the last axis: one an example, or one for each of its steps.
bool hasRowsOfScores(const tensor::Shape &head)
{
    constexpr std::size_t kWithSteps = 3;
    return (head.rank() == 2 || head.rank() == kWithSteps) && head[head.rank() - 1] > 1;
}

/// Of each row, whether it counts. A mask that is longer than the head begins with steps of a cache.
std::vector<bool> countedRows(const tensor::Shape &head, const interpret::Feed &feed)
{
    const auto steps = static_cast<std::size_t>(head.rank() > 2 ? head[1] : 1);
    const auto examples = static_cast<std::size_t>(head[0]);
    std::vector<bool> counted(examples * steps, true);
    const auto found = feed.find("attention_mask");
    if (found == feed.end() || head.rank() == 2)
        return counted;
    const Tensor &mask = found->second;
    if (mask.shape().rank() != 2 || mask.shape()[0] < head[0] || mask.shape()[1] < head[1])
        return counted;
    const auto length = static_cast<std::size_t>(mask.shape()[1]);
    std::vector<float> values(mask.elementCount());
    tensor::widen(mask.dtype(), mask.bytes().data(), values.size(), values.data());
    for (std::size_t row = 0; row < counted.size(); ++row)
        counted[row] = values[row / steps * length + length - steps + row % steps] != 0;
    return counted;
}

void addAgreement(const Tensor &reference, const Tensor &other, const interpret::Feed &feed,
                  ClassAgreement &agreement)
{
    const tensor::Shape &shape = reference.shape();
    const auto classes = static_cast<std::size_t>(shape[shape.rank() - 1]);
    const std::vector<bool> isCounted = countedRows(shape, feed);
    std::vector<float> r(classes);
    std::vector<float> x(classes);
    const auto row = [&](const Tensor &tensor, std::size_t at, std::vector<float> &out) {
        const std::size_t offset = at * classes * tensor::sizeOf(tensor.dtype());
        tensor::widen(tensor.dtype(), tensor.bytes().data() + offset, classes, out.data());
    };
    for (std::size_t at = 0; at < isCounted.size(); ++at) {
        if (!isCounted[at])
            continue;
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

void OutputRows::add(const LayerCompare::Heads &heads, const interpret::Feed &feed)
{
    for (std::size_t k = 0; k < m_outputs.size(); ++k)
        add(k, heads.reference[k], heads.other[k], feed);
}

void OutputRows::add(std::size_t head, const Tensor &reference, const Tensor &other,
                     const interpret::Feed &feed)
{
    Output &output = m_outputs[head];
    if (!addErrors(reference, other, output.metrics))
        output.shapesDiffer = true;
    else if (hasRowsOfScores(reference.shape()))
        addAgreement(reference, other, feed, output.agreement);
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
