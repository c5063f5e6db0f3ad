#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/calibrated.h"
#include "core/graph/model.h"
#include "core/walks/calibrate.h"

#include <span>
#include <string>

namespace halftone::walks {

/// Chooses between mse and minmax for each tensor by the error at the outputs of the convolutions and matrix products that read it (Q-output):
/// mse, unless minmax is clearly better. Runs a few examples, and each such layer again with its input quantized by either threshold. Fills in
/// CalibratedTensor::atOutputs for tensors with such a reader. The result does not depend on the number of threads. Does nothing if one example
/// exceeds the memory limit.
/// fails: as calibrateModel()
Result<void> compareAtOutputs(const graph::Model &model, const std::string &modelPath,
                              const CalibrateOptions &options,
                              std::span<calibration::CalibratedTensor> tensors, const Progress &progress);

} // namespace halftone::walks
