#pragma once

#include "core/base/result.h"
#include "core/dialect/weight_forms.h"
#include "core/graph/model.h"
#include "core/policy/weight_choice.h"
#include "core/quantize/quantize.h"
#include "core/weights/matrix_codes.h"

#include <optional>
#include <string>
#include <vector>

namespace halftone::weights {

/// What is asked of the weights of a model (policy::Policy::weights and its neighbours).
struct WeightsRequest
{
    std::vector<policy::WeightRule> rules;
    std::optional<policy::WeightMethod> method;
    std::optional<policy::WeightForm> form;
    bool isForAnalysis = false; ///< nothing is written, so that formats that no file has are allowed
};

/// A node whose weights are stored as codes.
struct PlannedMatrix
{
    graph::NodeId node = 0;
    dialect::WeightReader reader;
    graph::NodeId constant = 0; ///< the node that holds the matrix
    WeightMatrix matrix; ///< as it lies there; `outputsFirst` as its readers see it through transposes
    bool isTransposed = false; ///< the node reads it behind a transpose
    tensor::WeightFormat format;
    policy::WeightForm form = policy::WeightForm::Pairs;
    tensor::DType type = tensor::DType::F32; ///< that the node computes in
};

struct WeightsPlan
{
    const dialect::WeightForms *forms = nullptr;
    std::vector<PlannedMatrix> matrices; ///< in the graph's order
    std::vector<quantize::SkippedNode> skipped; ///< products that rules name and that stay, likewise
    std::string why; ///< of the format that needs `version`
    int version = 0; ///< of the model's format that the codes need; 0: any
};

/// originals  the model before its weights were rounded to 16 bit, by whose values codes are chosen; null: the model itself
/// fails      BadCall for a format that no file has, a form that it is not written in, a target that matches nothing; Unsupported for a
///            model of another format, and where nothing is left (the first reason)
Result<WeightsPlan> planWeights(const graph::Model &model, const WeightsRequest &request,
                                const graph::Model *originals = nullptr);

} // namespace halftone::weights
