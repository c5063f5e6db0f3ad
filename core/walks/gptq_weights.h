#pragma once

#include "core/walks/calibrate.h"
#include "core/weights/lower_weights.h"

#include <string>

namespace halftone::walks {

/// weights::lowerWeights() by method gptq (core/quantize/RULES.md, W-gptq): matrices of integers are encoded by what the model's examples make
/// them read, all others by method mse.
/// fails: also as inputProducts(); Unsupported for a matrix of more than Gptq::kMostInputs inputs; Cancelled
Result<weights::LoweredModel> lowerByGptq(const graph::Model &model, const std::string &modelPath,
                                          const weights::WeightsRequest &request,
                                          const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::walks
