#pragma once

#include "core/base/progress.h"
#include "core/weights/coded_matrix.h"
#include "core/weights/plan_weights.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::weights {

/// A node whose weights are codes now.
struct LoweredWeights
{
    std::string node;
    std::string op; ///< before
    tensor::WeightFormat format;
    policy::WeightForm form = policy::WeightForm::Pairs;
    policy::WeightMethod method = policy::WeightMethod::Nearest;
    std::shared_ptr<const CodedMatrix> matrix; ///< shared by nodes that read the same codes
};

struct LoweredModel
{
    graph::Model model;
    std::vector<LoweredWeights> weights; ///< in the graph's order
    std::vector<quantize::SkippedNode> skipped;
    std::vector<std::string> notes;
};

/// The model with codes where the request has them (core/quantize/RULES.md, section 7). Names of everything else stay; matrices that nothing
/// reads any more are gone. Codes are made when they are read.
/// originals  as planWeights()
/// fails      as planWeights(); BadCall for a method that needs data; Unsupported for a node that a version of the format with such codes
///            cannot say
Result<LoweredModel> lowerWeights(const graph::Model &model, const WeightsRequest &request,
                                  const graph::Model *originals = nullptr);

/// Codes that were chosen before, by the node that reads them.
using ChosenCodes = std::unordered_map<graph::NodeId, std::shared_ptr<const CodedMatrix>>;

/// How lowerWeights() encodes a matrix. method  of those that need no data
EncodeSettings encodeSettings(const PlannedMatrix &planned, policy::WeightMethod method);

/// The model of a plan. method  of what is not among `chosen`, whose own is Gptq. fails: Unsupported as lowerWeights()
Result<LoweredModel> lowerPlanned(const graph::Model &model, const WeightsPlan &plan,
                                  policy::WeightMethod method, const ChosenCodes &chosen = {});

/// The same graph with what the codes stand for in place of the weights, for comparisons. A matrix that others read too is doubled.
/// fails: as lowerWeights()
Result<LoweredModel> roundWeights(const graph::Model &model, const WeightsRequest &request);

/// Bits of codes, scales and zero points for each weight.
double bitsPerWeight(const std::vector<LoweredWeights> &weights);

} // namespace halftone::weights
