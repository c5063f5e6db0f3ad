#include "core/profile/layer_rows.h"

#include "core/graph/traverse.h"
#include "core/runtime/reference/elements.h"
#include "core/runtime/shown_outputs.h"

#include <algorithm>
#include <cmath>

namespace halftone::profile {

using graph::NodeId;
using tensor::Tensor;

namespace {

/// Reals for code 1 of a node's first output, where that is codes with the ends of their range behind (spec:
/// calibration-int8, section 3); else 1.
float codeStep(const Tensor &reference, std::span<const Tensor> outputs)
{
    using tensor::DType;
    const DType type = outputs[0].dtype();
    const double codes = type == DType::I8 ? 127.5
        : type == DType::U8                ? 255.5
        : type == DType::I32               ? 2147483647.0
                                           : 0;
    if (outputs.size() != 3 || codes == 0 || !tensor::isFloat(reference.dtype())
        || outputs[1].dtype() != DType::F32 || outputs[1].elementCount() != 1
        || outputs[2].elementCount() != 1)
        return 1;
    const double low = double{outputs[1].values<float>()[0]};
    const double high = double{outputs[2].values<float>()[0]};
    return static_cast<float>(std::max(std::abs(low), std::abs(high)) / codes);
}

} // namespace

std::optional<std::uint64_t> addErrors(const Tensor &reference, const Tensor &other,
                                       tensor::ErrorMetrics &metrics, float step)
{
    if (reference.shape() != other.shape())
        return std::nullopt;
    constexpr std::size_t kChunk
        = 4096; // widened in pieces: a whole copy would count against the memory limit
    std::array<float, kChunk> r;
    std::array<float, kChunk> x;
    const auto widen = [](const Tensor &tensor, std::size_t at, std::span<float> out) {
        runtime::reference::widen(tensor.dtype(), tensor.bytes().data() + at * tensor::sizeOf(tensor.dtype()),
                                  out.size(), out.data());
    };
    std::uint64_t notFinite = 0;
    const std::size_t count = reference.elementCount();
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t length = std::min(kChunk, count - at);
        widen(reference, at, std::span(r).first(length));
        widen(other, at, std::span(x).first(length));
        if (step != 1)
            std::ranges::transform(x, x.begin(), [step](float value) { return value * step; });
        metrics.add(std::span(r).first(length), std::span(x).first(length));
        notFinite += static_cast<std::uint64_t>(
            std::count_if(r.begin(), r.begin() + static_cast<std::ptrdiff_t>(length),
                          [](float value) { return !std::isfinite(value); }));
    }
    return notFinite;
}

LayerRows::LayerRows(const graph::Graph &graph)
    : m_shown(runtime::shownOutputs(graph))
    , m_first(graph.nodeCount())
{
    std::vector<NodeId> needed = graph::postOrder(graph);
    std::ranges::sort(needed); // NodeIds are in topological order
    for (const NodeId id : needed) {
        m_first[id] = m_rows.size();
        for (std::uint32_t k = 0; !graph.isVariable(id) && k < m_shown[id]; ++k) {
            Row row;
            row.known.node = id;
            row.known.output = k;
            m_rows.push_back(std::move(row));
        }
    }
}

void LayerRows::add(Row &row, Metrics &metrics, const Tensor &reference, const Tensor &other)
{
    if (!metrics)
        metrics = std::make_unique<tensor::ErrorMetrics>();
    const auto notFinite = addErrors(reference, other, *metrics);
    row.known.shapesDiffer = row.known.shapesDiffer || !notFinite;
}

void LayerRows::addCumulative(NodeId node, std::span<const Tensor> reference, std::span<const Tensor> other)
{
    for (std::size_t k = 0; k < std::min({m_shown[node], reference.size(), other.size()}); ++k) {
        Row &row = m_rows[m_first[node] + k];
        row.known.dtype = other[k].dtype();
        if (!row.cumulative)
            row.cumulative = std::make_unique<tensor::ErrorMetrics>();
        const float step = k == 0 ? codeStep(reference[k], other) : 1;
        const auto notFinite = addErrors(reference[k], other[k], *row.cumulative, step);
        row.known.notFinite += notFinite.value_or(0);
        row.known.shapesDiffer = row.known.shapesDiffer || !notFinite;
    }
}

void LayerRows::addIsolated(NodeId node, std::span<const Tensor> reference, std::span<const Tensor> lowered)
{
    for (std::size_t k = 0; k < std::min({m_shown[node], reference.size(), lowered.size()}); ++k) {
        Row &row = m_rows[m_first[node] + k];
        add(row, row.isolated, reference[k], lowered[k]);
    }
}

void LayerRows::addIsolatedAtOutputs(NodeId node, std::span<const Tensor> reference,
                                     std::span<const Tensor> other)
{
    Row &row = m_rows[m_first[node]];
    for (std::size_t k = 0; k < std::min(reference.size(), other.size()); ++k)
        add(row, row.atOutputs, reference[k], other[k]);
}

std::optional<LayerErrors> LayerRows::firstUnclean() const
{
    const auto row
        = std::ranges::find_if(m_rows, [](const Row &candidate) { return candidate.known.notFinite > 0; });
    return row == m_rows.end() ? std::nullopt : std::optional(row->known);
}

std::vector<LayerErrors> LayerRows::layers() const
{
    const auto figures
        = [](const Metrics &metrics) { return metrics ? std::optional(metrics->figures()) : std::nullopt; };
    std::vector<LayerErrors> layers;
    for (const Row &row : m_rows) {
        layers.push_back(row.known);
        layers.back().cumulative = figures(row.cumulative);
        layers.back().isolated = figures(row.isolated);
        layers.back().isolatedAtOutputs = figures(row.atOutputs);
    }
    return layers;
}

} // namespace halftone::profile
