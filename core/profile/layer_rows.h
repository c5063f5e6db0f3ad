#pragma once

#include "core/profile/layer_compare.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// Inside of LayerCompare: the figures that are being collected.
namespace halftone::profile {

/// Adds the errors of one tensor's values. Gives the number of reference values that are NaN or infinite; nothing, and no
/// errors, when the shapes differ.
/// step  reals for 1 of `other`, which may be codes
std::optional<std::uint64_t> addErrors(const tensor::Tensor &reference, const tensor::Tensor &other,
                                       tensor::ErrorMetrics &metrics, float step = 1);

/// The figures of every shown output of every node that the heads need, in topological order.
class LayerRows
{
public:
    explicit LayerRows(const graph::Graph &graph);

    std::size_t shownOutputs(graph::NodeId node) const { return m_shown[node]; }
    void addCumulative(graph::NodeId node, std::span<const tensor::Tensor> reference,
                       std::span<const tensor::Tensor> other);
    void addIsolated(graph::NodeId node, std::span<const tensor::Tensor> reference,
                     std::span<const tensor::Tensor> lowered);
    void addIsolatedAtOutputs(graph::NodeId node, std::span<const tensor::Tensor> reference,
                              std::span<const tensor::Tensor> other);

    std::vector<LayerErrors> layers() const;
    /// The first layer with NaN or infinities in the reference, without errors.
    std::optional<LayerErrors> firstUnclean() const;

private:
    /// An ErrorMetrics takes some kB, so only those that are used exist.
    using Metrics = std::unique_ptr<tensor::ErrorMetrics>;
    struct Row
    {
        LayerErrors known;
        Metrics cumulative, isolated, atOutputs;
    };
    void add(Row &row, Metrics &metrics, const tensor::Tensor &reference, const tensor::Tensor &other);

    std::vector<std::size_t> m_shown; ///< by NodeId
    std::vector<std::size_t> m_first; ///< by NodeId: its first row
    std::vector<Row> m_rows;
};

} // namespace halftone::profile
