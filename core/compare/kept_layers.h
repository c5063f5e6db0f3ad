#pragma once

#include "core/compare/kept_plan.h"
#include "core/compare/layer_rows.h"
#include "core/compare/lowered_layer.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

/// Internal to KeptCompare: the isolated errors of layers.
namespace halftone::compare {

/// The figures of one node, added batch by batch in any order.
struct KeptFigures
{
    NodeRows rows;
    std::vector<bool> has; ///< by batch: was it added?
    std::size_t batches = 0; ///< added so far

    KeptFigures(NodeRows empty, std::size_t all)
        : rows(std::move(empty))
        , has(all)
    {
    }
    /// Marks a batch as added.
    void settle(std::size_t batch)
    {
        has[batch] = true;
        if (++batches == has.size())
            rows.settle();
    }
};

/// One batch of a comparison, with all values of the reference.
struct KeptBatch
{
    const ComparedModels &models;
    const KeptPlan &reference;
    const KeptValues &values;
    const std::vector<tensor::Tensor> &heads; ///< of the reference
    std::size_t index = 0;
    std::size_t worker = 0; ///< that runs it; one batch at a time
    const Progress &progress;
    std::function<void(graph::NodeId)> begins; ///< called before a layer
    std::function<void()> computed; ///< called after a node
    std::function<void(graph::NodeId)> ended; ///< called after a layer, whose figures are known
};

/// Keeps the figures of every form in which a layer was lowered.
class KeptLayers
{
public:
    /// `reference` must outlive this.
    KeptLayers(const graph::Graph &reference, const kernels::BackendChain &backends, std::size_t batches);

    /// The request of one comparison.
    struct Asked
    {
        std::map<graph::NodeId, std::size_t> forms; ///< index of the layer's form
        /// By worker: layers that were run.
        std::vector<std::map<graph::NodeId, std::optional<LoweredLayer>>> layers;
        bool keepsLayers = true; ///< otherwise each is created again for each batch
        /// By NodeId: estimated bytes of values to compute for a layer, assuming half of the nodes after it.
        std::vector<double> bytes;
    };
    Asked choose(const ComparedModels &models, const KeptPlan &reference, const KeptPlan &lowered,
                 std::size_t workers);
    /// Bytes of values that add() will compute over all batches.
    double bytesToCompute(const Asked &asked) const;
    bool isKnown(const Asked &asked, std::size_t batch) const;

    /// Adds a batch unless it is known. Several threads may call this, each as another worker. `execution` is before the first node.
    /// fails: errors of running; Cancelled
    Result<void> add(interpret::Execution execution, const KeptBatch &batch, Asked &asked);
    /// Adds the figures to the rows of a node that was requested.
    void tell(graph::NodeId node, const Asked &asked, std::span<LayerErrors> rows) const;

private:
    struct Form
    {
        LoweredForm form;
        KeptFigures figures;
    };

    Result<void> addLayer(const interpret::Execution &before, std::span<const tensor::Tensor> inputs,
                          KeptFigures &figures, const KeptBatch &batch, Asked &asked);
    Result<LoweredLayer *> layerOf(graph::NodeId node, std::span<const tensor::Tensor> inputs,
                                   const KeptBatch &batch, Asked &asked) const;
    Result<std::vector<tensor::Tensor>>
    headsWith(interpret::Execution rest, std::vector<tensor::Tensor> lowered, const KeptBatch &batch) const;

    const graph::Graph &m_graph;
    const kernels::BackendChain m_backends;
    const std::vector<std::size_t> m_shown; ///< by NodeId
    const std::vector<Weighed> m_weighed; ///< by NodeId
    std::size_t m_batches = 0;
    std::unordered_map<graph::NodeId, std::vector<Form>> m_known;
    mutable std::mutex m_adding; ///< for m_known, while a batch is added
};

} // namespace halftone::compare
