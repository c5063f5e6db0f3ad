#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/calibrated.h"
#include "core/graph/model.h"
#include "core/walks/calibrate.h"

#include <span>
#include <string>

namespace halftone::walks {

/// Chooses mse, or minmax where that costs clearly less, by what they cost at the outputs of convolutions and matrix products that read a tensor (Q-output): a few
/// examples are run, and each such layer again with its data as codes of either threshold would have them. Fills in
/// CalibratedTensor::atOutputs of the tensors that such a layer reads; others have none.
/// Does not depend on the number of threads. Nothing is done where the memory limit does not hold one example.
/// fails: as calibrateModel()
Result<void> compareAtOutputs(const graph::Model &model, const std::string &modelPath,
                              const CalibrateOptions &options,
                              std::span<calibration::CalibratedTensor> tensors, const Progress &progress);

} // namespace halftone::walks
