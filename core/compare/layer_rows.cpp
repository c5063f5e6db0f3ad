#include "core/compare/layer_rows.h"

#include "core/graph/traverse.h"
#include "core/infer/shown_outputs.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace halftone::compare {

using graph::NodeId;
using tensor::Tensor;

namespace {

/// Reals for code 1 of a node's first output, where that is codes with the ends of their range behind
/// (core/quantize/RULES.md, Q-dequantize); else 1.
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

std::uint32_t notFiniteIn(std::span<const float> values)
{
    std::uint32_t count = 0;
    for (const float value : values)
        count += std::abs(value) <= std::numeric_limits<float>::max() ? 0 : 1;
    return count;
}

/// Drops what is NaN or infinite in `r` where `x` has the same; where it has not, the pair counts as an overflow or a NaN.
/// Gives how many are left.
std::size_t withoutShared(std::span<float> r, std::span<float> x)
{
    std::size_t kept = 0;
    for (std::size_t k = 0; k < r.size(); ++k) {
        const bool isNaN = std::isnan(r[k]);
        if (isNaN ? std::isnan(x[k]) : std::isinf(r[k]) && r[k] == x[k])
            continue;
        const bool isFinite = std::isfinite(r[k]);
        const float oddity = isNaN || std::isnan(x[k]) ? std::numeric_limits<float>::quiet_NaN()
                                                       : std::numeric_limits<float>::infinity();
        x[kept] = isFinite ? x[k] : oddity;
        r[kept++] = isFinite ? r[k] : 0;
    }
    return kept;
}

constexpr std::size_t kChunk = 4096; ///< widened in pieces: a whole copy would count against the memory limit

/// Reals of a tensor from a place on.
void widenAt(const Tensor &tensor, std::size_t at, std::span<float> out, float step)
{
    tensor::widen(tensor.dtype(), tensor.bytes().data() + at * tensor::sizeOf(tensor.dtype()), out.size(),
                  out.data());
    if (step != 1)
        std::ranges::transform(out, out.begin(), [step](float value) { return value * step; });
}

/// Gives how many values of the reference are NaN or infinite.
std::uint32_t addPiece(std::span<float> r, std::span<float> x, tensor::ErrorMetrics &metrics)
{
    const std::uint32_t notFinite = notFiniteIn(r);
    const std::size_t length = notFinite > 0 ? withoutShared(r, x) : r.size();
    metrics.add(r.first(length), x.first(length));
    return notFinite;
}

bool hasRows(const Tensor &tensor, const Weighed &weighed)
{
    const auto rank = static_cast<std::int64_t>(tensor.shape().rank());
    return weighed.below > 0 && rank > 0 && tensor::isFloat(tensor.dtype())
        && (weighed.axis == -1 || weighed.axis == rank - 1) && tensor.elementCount() > 0;
}

/// Row by row, packed again: what gets no weight on either side is left out.
std::uint64_t addWeighed(const Tensor &reference, const Tensor &other, tensor::ErrorMetrics &metrics,
                         float step, double below)
{
    const auto width = static_cast<std::size_t>(reference.shape()[reference.shape().rank() - 1]);
    std::vector<float> r(width);
    std::vector<float> x(width);
    std::vector<float> keptR;
    std::vector<float> keptX;
    std::uint64_t notFinite = 0;
    const auto flush = [&] {
        notFinite += addPiece(keptR, keptX, metrics);
        keptR.clear();
        keptX.clear();
    };
    for (std::size_t at = 0; at < reference.elementCount(); at += width) {
        widenAt(reference, at, r, 1);
        widenAt(other, at, x, step);
        const double leastR = double{*std::ranges::max_element(r)} - below;
        const double leastX = double{*std::ranges::max_element(x)} - below;
        for (std::size_t k = 0; k < width; ++k) {
            if (double{r[k]} < leastR && double{x[k]} < leastX)
                continue;
            keptR.push_back(r[k]);
            keptX.push_back(x[k]);
            if (keptR.size() == kChunk)
                flush();
        }
    }
    if (!keptR.empty())
        flush();
    return notFinite;
}

} // namespace

std::optional<std::uint64_t> addErrors(const Tensor &reference, const Tensor &other,
                                       tensor::ErrorMetrics &metrics, float step, const Weighed &weighed)
{
    if (reference.shape() != other.shape())
        return std::nullopt;
    std::uint64_t notFinite = 0;
    if (hasRows(reference, weighed)) {
        notFinite = addWeighed(reference, other, metrics, step, weighed.below);
        metrics.endExample();
        return notFinite;
    }
    std::array<float, kChunk> r;
    std::array<float, kChunk> x;
    const std::size_t count = reference.elementCount();
    for (std::size_t at = 0; at < count; at += kChunk) {
        const std::size_t length = std::min(kChunk, count - at);
        widenAt(reference, at, std::span(r).first(length), 1);
        widenAt(other, at, std::span(x).first(length), step);
        notFinite += addPiece(std::span(r).first(length), std::span(x).first(length), metrics);
    }
    metrics.endExample();
    return notFinite;
}

NodeRows::NodeRows(NodeId node, std::size_t shownOutputs, const Weighed &weighed)
    : m_rows(shownOutputs)
{
    if (!m_rows.empty())
        m_rows.front().weighed = weighed;
    for (std::uint32_t k = 0; k < m_rows.size(); ++k) {
        m_rows[k].known.node = node;
        m_rows[k].known.output = k;
    }
}

std::optional<std::uint64_t> NodeRows::addTo(Metrics &metrics, const Tensor &reference, const Tensor &other,
                                             float step, const Weighed &weighed)
{
    if (!metrics)
        metrics = std::make_unique<StoredErrors>();
    tensor::ErrorMetrics whole = metrics->metrics();
    const auto notFinite = addErrors(reference, other, whole, step, weighed);
    *metrics = StoredErrors(whole);
    return notFinite;
}

void NodeRows::add(Row &row, Metrics &metrics, const Tensor &reference, const Tensor &other,
                   const Weighed &weighed)
{
    const auto notFinite = addTo(metrics, reference, other, 1, weighed);
    row.known.shapesDiffer = row.known.shapesDiffer || !notFinite;
}

void NodeRows::addCumulative(std::span<const Tensor> reference, std::span<const Tensor> other)
{
    for (std::size_t k = 0; k < std::min({m_rows.size(), reference.size(), other.size()}); ++k) {
        Row &row = m_rows[k];
        row.known.dtype = other[k].dtype();
        const float step = k == 0 ? codeStep(reference[k], other) : 1;
        const auto notFinite = addTo(row.cumulative, reference[k], other[k], step, row.weighed);
        row.known.notFinite += notFinite.value_or(0);
        row.known.shapesDiffer = row.known.shapesDiffer || !notFinite;
    }
}

void NodeRows::addIsolated(std::span<const Tensor> reference, std::span<const Tensor> lowered)
{
    for (std::size_t k = 0; k < std::min({m_rows.size(), reference.size(), lowered.size()}); ++k)
        add(m_rows[k], m_rows[k].isolated, reference[k], lowered[k], m_rows[k].weighed);
}

void NodeRows::addIsolatedAtOutputs(std::span<const Tensor> reference, std::span<const Tensor> other)
{
    if (m_rows.empty())
        return;
    Row &row = m_rows.front();
    for (std::size_t k = 0; k < std::min(reference.size(), other.size()); ++k)
        add(row, row.atOutputs, reference[k], other[k], {});
}

LayerErrors NodeRows::layerOf(const Row &row)
{
    LayerErrors layer = row.known;
    if (row.cumulative)
        layer.cumulative = row.cumulative->metrics().figures();
    if (row.isolated)
        layer.isolated = row.isolated->metrics().figures();
    if (row.atOutputs)
        layer.isolatedAtOutputs = row.atOutputs->metrics().figures();
    return layer;
}

void NodeRows::settle()
{
    for (Row &row : m_rows) {
        row.known = layerOf(row);
        for (Metrics *const metrics : {&row.cumulative, &row.isolated, &row.atOutputs})
            metrics->reset();
    }
}

std::vector<LayerErrors> NodeRows::layers() const
{
    std::vector<LayerErrors> layers;
    for (const Row &row : m_rows)
        layers.push_back(layerOf(row));
    return layers;
}

std::vector<LayerParts> NodeRows::parts() const
{
    const auto of = [](const Metrics &metrics) { return metrics ? std::optional(*metrics) : std::nullopt; };
    std::vector<LayerParts> parts;
    for (const Row &row : m_rows)
        parts.push_back({row.known.node, row.known.output, row.known.dtype, row.known.shapesDiffer,
                         row.known.notFinite, of(row.cumulative), of(row.isolated), of(row.atOutputs)});
    return parts;
}

std::optional<LayerErrors> NodeRows::firstUnclean() const
{
    const auto row
        = std::ranges::find_if(m_rows, [](const Row &candidate) { return candidate.known.notFinite > 0; });
    return row == m_rows.end() ? std::nullopt : std::optional(row->known);
}

LayerRows::LayerRows(const graph::Graph &graph)
    : m_shown(infer::shownOutputs(graph))
    , m_place(graph.nodeCount())
{
    const std::vector<Weighed> weighed = weighedValues(graph);
    std::vector<NodeId> needed = graph::postOrder(graph);
    std::ranges::sort(needed); // NodeIds are in topological order
    for (const NodeId id : needed) {
        if (graph.isVariable(id))
            continue;
        m_place[id] = m_nodes.size();
        m_nodes.emplace_back(id, m_shown[id], weighed[id]);
    }
}

std::size_t LayerRows::bytes(bool isolated) const
{
    std::size_t rows = 0;
    for (const NodeRows &node : m_nodes)
        rows += node.rowCount();
    return rows * (sizeof(LayerErrors) + (isolated ? 3 : 1) * StoredErrors::kBytes);
}

std::optional<LayerErrors> LayerRows::firstUnclean() const
{
    for (const NodeRows &node : m_nodes) {
        if (auto unclean = node.firstUnclean())
            return unclean;
    }
    return std::nullopt;
}

std::vector<LayerErrors> LayerRows::layers() const
{
    std::vector<LayerErrors> layers;
    for (const NodeRows &node : m_nodes) {
        const std::vector<LayerErrors> rows = node.layers();
        layers.insert(layers.end(), rows.begin(), rows.end());
    }
    return layers;
}

std::vector<LayerParts> LayerRows::parts() const
{
    std::vector<LayerParts> parts;
    for (const NodeRows &node : m_nodes) {
        std::vector<LayerParts> rows = node.parts();
        std::ranges::move(rows, std::back_inserter(parts));
    }
    return parts;
}

} // namespace halftone::compare
