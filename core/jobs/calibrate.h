#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/calibrated.h"
#include "core/graph/model.h"
#include "core/jobs/examples.h"

#include <string>
#include <vector>

namespace halftone::jobs {

struct CalibrateOptions
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t batch = 0; ///< examples at a time; 0: all arrays at once, pictures one by one
    calibration::ThresholdOptions threshold{};
    std::vector<std::string>
        tensors{}; ///< only these, by name, and no others; empty: all that `layers` takes
    bool rangesOnly = false; ///< ranges and histograms without what only 16-bit formats need
    std::vector<std::string> layers{}; ///< patterns (policy::Pattern) of tensor names; empty: all tensors
};

struct CalibrateOutcome
{
    /// Parameters that are used, inputs and nodes, in the graph's order.
    std::vector<calibration::CalibratedTensor> tensors;
    std::size_t examples = 0; ///< used; 0 where the arrays have no axis of examples
    double seconds = 0;
};

/// Runs the model over the examples once and collects the statistics of every tensor of floating point, without keeping
/// any values, then chooses thresholds. Both in parallel over the tensors; the result does not depend on the threads.
/// fails: what reading the examples refuses; what interpret::Interpreter refuses; BadCall for a malformed pattern or one
/// that matches nothing (Field::Layers); Cancelled
Result<CalibrateOutcome> calibrateModel(const graph::Model &model, const std::string &modelPath,
                                        const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::jobs
