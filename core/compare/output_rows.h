#pragma once

#include "core/compare/compared_parts.h"
#include "core/compare/layer_compare.h"
#include "core/interpret/interpreter.h"

#include <optional>
#include <span>
#include <vector>

/// Internal to LayerCompare and KeptCompare: the figures of the heads, and the final result.
namespace halftone::compare {

/// The figures of all heads being collected.
class OutputRows
{
public:
    explicit OutputRows(const graph::Graph &reference);

    /// Of one batch. feed: its inputs; rows that its `attention_mask` leaves out do not count for the agreement
    void add(const LayerCompare::Heads &heads, const interpret::Feed &feed);
    void add(std::size_t head, const tensor::Tensor &reference, const tensor::Tensor &other,
             const interpret::Feed &feed); ///< likewise, of one head
    std::vector<OutputErrors> outputs() const;
    std::vector<OutputParts> parts() const;

private:
    struct Output
    {
        tensor::ErrorMetrics metrics;
        ClassAgreement agreement;
        bool shapesDiffer = false;
    };
    std::vector<Output> m_outputs; ///< by head
};

/// The first head with NaN or infinities, without errors; absent if all are finite.
/// heads  values of the heads of `reference`
std::optional<LayerErrors> uncleanHead(const graph::Graph &reference, std::span<const tensor::Tensor> heads);

/// The complete result: sets the threshold if absent, and finds the first layers that diverge or are unclean.
Comparison conclude(std::vector<LayerErrors> layers, std::vector<OutputErrors> outputs,
                    std::optional<double> threshold);

} // namespace halftone::compare
