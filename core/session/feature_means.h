#pragma once

#include "core/passes/correct_biases.h"
#include "core/passes/quantize.h"
#include "core/session/calibrate.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::session {

/// Runs the model over the calibration examples once more and takes the means of what int8 layers read, before and after the
/// codes that `ranges` gives them; a tensor without a range there is taken as it is.
/// fails: as calibrateModel()
Result<std::unordered_map<std::string, passes::FeatureMeans>>
featureMeans(const graph::Model &model, const std::string &symbolPath,
             const std::vector<passes::Int8Product> &products, const passes::QuantizedRanges &ranges,
             passes::QuantizedCodes codes, const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::session
