#pragma once

#include "core/quantize/correct_biases.h"
#include "core/quantize/quantize.h"
#include "core/walks/calibrate.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::walks {

/// Runs the model over the calibration examples once more and takes the means of what int8 layers read, before and after the
/// codes that `ranges` gives them; a tensor without a range there is taken as it is.
/// fails: as calibrateModel()
Result<std::unordered_map<std::string, quantize::FeatureMeans>>
featureMeans(const graph::Model &model, const std::string &modelPath,
             const std::vector<quantize::Int8Product> &products, const quantize::QuantizedRanges &ranges,
             quantize::QuantizedCodes codes, const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::walks
