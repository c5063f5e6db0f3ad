#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/session/calibrate.h"
#include "core/session/snapshot.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace halftone::session {

struct CorrectedConversion
{
    std::shared_ptr<const passes::ConvertedModel> converted;
    std::size_t corrected = 0; ///< layers
    std::vector<std::string> notes; ///< layers that have nowhere to put a correction
};

/// A conversion once more, with the mean errors that its int8 layers bring taken out of their biases beforehand (passes::correctBiases):
/// what `convert --correct-biases` writes.
/// converted  what `policy` makes of `model` with these shapes (null: unknown) and ranges
/// options    the examples that are run for the means
/// fails      as calibrateModel() and passes::convertModel()
Result<CorrectedConversion> correctConversion(const graph::Model &model, const std::string &symbolPath,
                                              const policy::Policy &policy,
                                              const passes::ConvertedModel &converted,
                                              const passes::ShapeMap *shapes,
                                              const passes::QuantizedRanges &ranges,
                                              const CalibrateOptions &options, const Progress &progress = {});

/// The same of a snapshot, with the ranges that its policy chooses from its calibration. Needs: both, and a conversion.
Result<CorrectedConversion> correctConversion(const Snapshot &snapshot, const CalibrateOptions &options,
                                              const Progress &progress = {});

} // namespace halftone::session
