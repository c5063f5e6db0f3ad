#pragma once

#include "core/compare/compared_parts.h"
#include "core/compare/layer_compare.h"
#include "core/compare/softmax_readers.h"
#include "core/compare/stored_errors.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

/// Internal to LayerCompare: the figures being collected.
namespace halftone::compare {

/// Adds the errors of a tensor as one example. A value that is NaN or infinite in the reference (a mask) is ignored if `other` has the same,
/// otherwise counted as overflow or NaN.
/// step     scale of `other`, which may hold codes
/// weighed  leaves out values to which softmax gives no weight on both sides: what a mask blocks must not hide what it lets through
/// returns  number of reference values that are NaN or infinite; absent, with nothing added, if the shapes differ
std::optional<std::uint64_t> addErrors(const tensor::Tensor &reference, const tensor::Tensor &other,
                                       tensor::ErrorMetrics &metrics, float step = 1,
                                       const Weighed &weighed = {});

/// The figures of the visible outputs of a node.
class NodeRows
{
public:
    /// weighed  of the first output
    NodeRows(graph::NodeId node, std::size_t shownOutputs, const Weighed &weighed = {});

    void addCumulative(std::span<const tensor::Tensor> reference, std::span<const tensor::Tensor> other);
    void addIsolated(std::span<const tensor::Tensor> reference, std::span<const tensor::Tensor> lowered);
    void addIsolatedAtOutputs(std::span<const tensor::Tensor> reference,
                              std::span<const tensor::Tensor> other);
    /// Call when nothing will be added: releases what only adding needs.
    void settle();

    std::vector<LayerErrors> layers() const;
    std::vector<LayerParts> parts() const; ///< needs: not settled
    /// The first row with NaN or infinities in the reference, without errors.
    std::optional<LayerErrors> firstUnclean() const;
    std::size_t rowCount() const { return m_rows.size(); }

private:
    /// Null until used.
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

/// The figures of all visible outputs of all nodes that the heads need, in topological order.
class LayerRows
{
public:
    explicit LayerRows(const graph::Graph &graph);

    std::size_t shownOutputs(graph::NodeId node) const { return m_shown[node]; }
    /// Needs: a node, not a variable, that the heads need.
    NodeRows &of(graph::NodeId node) { return m_nodes[m_place[node]]; }

    /// The memory of all figures when complete. isolated: including isolated errors
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

} // namespace halftone::compare
