#pragma once

#include "core/quantize/correct_biases.h"
#include "core/quantize/quantize.h"
#include "core/walks/calibrate.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace halftone::walks {

/// Runs the model over the calibration examples once more and computes the means of the inputs of int8 layers, before and after quantization
/// by `ranges`. Tensors without a range stay as they are.
/// fails: as calibrateModel()
Result<std::unordered_map<std::string, quantize::FeatureMeans>>
featureMeans(const graph::Model &model, const std::string &modelPath,
             const std::vector<quantize::Int8Product> &products, const quantize::QuantizedRanges &ranges,
             quantize::QuantizedCodes codes, const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::walks
