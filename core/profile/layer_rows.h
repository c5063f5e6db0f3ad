#pragma once

#include "core/profile/compared_parts.h"
#include "core/profile/layer_compare.h"
#include "core/profile/softmax_readers.h"
#include "core/profile/stored_errors.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// Inside of LayerCompare: the figures that are being collected.
namespace halftone::profile {

/// Adds the errors of one tensor's values, as one example. Gives the number of reference values that are NaN or infinite; nothing, and no
/// errors, when the shapes differ. Such a value, as masks have, is left out where `other` has the same, else it counts as an overflow
/// (an infinity) or NaN.
/// step     reals for 1 of `other`, which may be codes
/// weighed  values that a softmax gives no weight on both sides are left out: a mask's do not hide what it lets through
std::optional<std::uint64_t> addErrors(const tensor::Tensor &reference, const tensor::Tensor &other,
                                       tensor::ErrorMetrics &metrics, float step = 1,
                                       const Weighed &weighed = {});

/// The figures of one node's shown outputs.
class NodeRows
{
public:
    /// weighed  of the first output
    NodeRows(graph::NodeId node, std::size_t shownOutputs, const Weighed &weighed = {});

    void addCumulative(std::span<const tensor::Tensor> reference, std::span<const tensor::Tensor> other);
    void addIsolated(std::span<const tensor::Tensor> reference, std::span<const tensor::Tensor> lowered);
    void addIsolatedAtOutputs(std::span<const tensor::Tensor> reference,
                              std::span<const tensor::Tensor> other);
    /// Nothing is added any more: gives free what only adding needs.
    void settle();

    std::vector<LayerErrors> layers() const;
    std::vector<LayerParts> parts() const; ///< needs: not settled
    /// The first row with NaN or infinities in the reference, without errors.
    std::optional<LayerErrors> firstUnclean() const;
    std::size_t rowCount() const { return m_rows.size(); }

private:
    /// Only those that are used exist.
    using Metrics = std::unique_ptr<StoredErrors>;
    struct Row
    {
        LayerErrors known;
        Metrics cumulative, isolated, atOutputs;
        Weighed weighed{};
    };
    /// As addErrors().
    static std::optional<std::uint64_t> addTo(Metrics &metrics, const tensor::Tensor &reference,
                                              const tensor::Tensor &other, float step,
                                              const Weighed &weighed);
    static void add(Row &row, Metrics &metrics, const tensor::Tensor &reference, const tensor::Tensor &other,
                    const Weighed &weighed);
    static LayerErrors layerOf(const Row &row);

    std::vector<Row> m_rows; ///< by output
};

/// The figures of every shown output of every node that the heads need, in topological order.
class LayerRows
{
public:
    explicit LayerRows(const graph::Graph &graph);

    std::size_t shownOutputs(graph::NodeId node) const { return m_shown[node]; }
    /// Needs: a node that the heads need and that is no variable.
    NodeRows &of(graph::NodeId node) { return m_nodes[m_place[node]]; }

    /// Of figures, when all that may be added has been. isolated  those of layers alone, too
    std::size_t bytes(bool isolated) const;

    std::vector<LayerErrors> layers() const;
    std::vector<LayerParts> parts() const;
    /// The first layer with NaN or infinities in the reference, without errors.
    std::optional<LayerErrors> firstUnclean() const;

private:
    std::vector<std::size_t> m_shown; ///< by NodeId
    std::vector<std::size_t> m_place; ///< by NodeId: in m_nodes
    std::vector<NodeRows> m_nodes;
};

} // namespace halftone::profile
