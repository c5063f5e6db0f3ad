#pragma once

#include "core/profile/kept_plan.h"
#include "core/profile/layer_rows.h"
#include "core/profile/lowered_layer.h"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

/// Inside of KeptCompare: the figures of layers that are lowered alone.
namespace halftone::profile {

/// The figures of one node as they are added, batch by batch, in whatever order.
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
    /// That batch, too.
    void settle(std::size_t batch)
    {
        has[batch] = true;
        if (++batches == has.size())
            rows.settle();
    }
};

/// One batch of a comparison, whose values in the reference are all there.
struct KeptBatch
{
    const ComparedModels &models;
    const KeptPlan &reference;
    const KeptValues &values;
    const std::vector<tensor::Tensor> &heads; ///< of the reference
    std::size_t index = 0;
    std::size_t worker = 0; ///< who runs it; one at a time each
    const Progress &progress;
    std::function<void(graph::NodeId)> begins; ///< with a layer
    std::function<void()> computed; ///< a node
    std::function<void(graph::NodeId)> ended; ///< a layer, whose figures are there
};

/// Keeps the figures of every form that a layer was lowered to.
class KeptLayers
{
public:
    /// Must live as long as this: `reference`. backends: kept
    KeptLayers(const graph::Graph &reference, const kernels::BackendChain &backends, std::size_t batches);

    /// What one comparison asks for.
    struct Asked
    {
        std::map<graph::NodeId, std::size_t> forms; ///< which of the layer's
        /// By worker: those that were run.
        std::vector<std::map<graph::NodeId, std::optional<LoweredLayer>>> layers;
        bool keepsLayers = true; ///< else each is made anew for each batch
        /// By NodeId: about how many bytes of values a layer alone makes compute: behind it half of the rest is taken.
        std::vector<double> bytes;
    };
    Asked choose(const ComparedModels &models, const KeptPlan &reference, const KeptPlan &lowered,
                 std::size_t workers);
    /// Of values, that add() will compute over all batches.
    double bytesToCompute(const Asked &asked) const;
    bool isKnown(const Asked &asked, std::size_t batch) const;

    /// Adds a batch, where it is not known; several threads may, each as another worker. `execution` stands before the first node.
    /// fails: what running refuses; Cancelled
    Result<void> add(interpret::Execution execution, const KeptBatch &batch, Asked &asked);
    /// Adds the figures to the rows of a node, if it was asked for.
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
    mutable std::mutex m_adding; ///< of the figures in it, while a batch is added
};

} // namespace halftone::profile
