#pragma once

#include "core/base/result.h"
#include "core/dialect/coded_pairs.h"
#include "core/graph/model.h"
#include "core/quantize/quantize.h"

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::quantize {

/// Constants of a model by the node that gives them: parameters, and nodes that hold a tensor.
using Constants = std::unordered_map<graph::NodeId, tensor::Tensor>;
Constants constantsOf(const graph::Model &model);

/// An output of a node.
using Output = std::pair<graph::NodeId, std::uint32_t>;

struct PlannedProduct
{
    dialect::CodedProduct form;
    std::optional<graph::NodeId>
        norm{}; ///< the BatchNorm behind it that goes into its weights, and whose value it gives then
};

/// A value other than a constant that passes through a pair.
struct PlannedValue
{
    std::string
        name; ///< what the observation of its range is called: its own, or that of what it was moved from
    bool isResult
        = false; ///< of what is computed with codes, so that everybody reads what the codes stand for
};

/// What is to be codes.
struct PairPlan
{
    const dialect::CodedPairs *forms = nullptr;
    std::unordered_map<graph::NodeId, PlannedProduct> products; ///< that are computed with codes
    std::vector<bool> supports; ///< by NodeId: computes with codes beside products
    std::unordered_map<graph::NodeId, graph::NodeId>
        within; ///< nodes that are computed within a product or support
    std::map<Output, PlannedValue> data;
    /// Matrices of which rows are taken and that are weights of products too, by the node that gives them: the first of these.
    std::unordered_map<graph::NodeId, graph::NodeId> tables;
    std::unordered_map<graph::NodeId, graph::NodeId> rows; ///< by what takes rows of one: which
    std::vector<std::string> quantized; ///< nodes, in the graph's order
    std::vector<SkippedNode> skipped; ///< likewise
    std::vector<std::string> missing; ///< values without a range
};

/// ranges  a product of values that have none stays real; null: not asked for yet
/// fails   BadInput for types that contradict each other; BadCall as quantize()
Result<PairPlan> planPairs(const graph::Model &model, const Constants &constants,
                           const QuantizeOptions &options, const QuantizedRanges *ranges);

} // namespace halftone::quantize
