#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/calibrated.h"
#include "core/calibration/merging_collector.h"
#include "core/graph/model.h"
#include "core/jobs/examples.h"
#include "core/jobs/part.h"

#include <map>
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
    /// Measures what minmax and mse cost at the outputs of the layers that read a tensor (Q-output), and where threshold.method is mse takes
    /// minmax where that is clearly better.
    bool weighsOutputs = false;
    /// MXNet's own way (Q-histogram): examples in batches, one batch after another, the first of which settles the histograms'
    /// ranges. Results then depend on `batch` and on the order.
    bool asBatches = false;
    Part part{}; ///< of the examples; only where they are not taken as batches
    /// Bytes of values, and of weights that kernels pack, held at a time, where examples are not taken as batches. Fewer are taken
    /// side by side, and weights packed when they are used, where it is little.
    std::size_t memoryLimit = std::size_t{1} << 30;
};

/// What a part of the examples told of a tensor.
struct CollectedTensor
{
    calibration::CalibratedTensor tensor; ///< without statistics and threshold
    calibration::MergingCollector collector;
};

/// What a part of the examples told; parts of the same data add up.
struct CollectedStatistics
{
    std::vector<CollectedTensor> tensors; ///< as CalibrateOutcome::tensors
    std::size_t examples = 0; ///< in the part; 0 where the arrays have no axis of examples
    std::size_t all = 0; ///< examples there are
    double seconds = 0;
};

struct CalibrateOutcome
{
    /// Parameters that are used, inputs and nodes, in the graph's order.
    std::vector<calibration::CalibratedTensor> tensors;
    std::size_t examples = 0; ///< used; 0 where the arrays have no axis of examples
    double seconds = 0;
};

/// Of parameters, by node: they are the same whatever the examples are.
using ParameterCollectors = std::map<graph::NodeId, calibration::MergingCollector>;

/// Runs the model over a part of the examples once and collects the statistics of every tensor of floating point, without
/// keeping any values. Each example is computed with kernels for one example and one thread, several side by side.
/// known  what an earlier call with the same model and options made of the parameters, or nothing yet; null: nobody asks again
/// fails: as calibrateModel(); BadCall for a part of what is one piece; Unsupported for one example that does not fit the memory
/// limit (Field::Memory)
Result<CollectedStatistics> collectStatistics(const graph::Model &model, const std::string &modelPath,
                                              const CalibrateOptions &options, const Progress &progress,
                                              ParameterCollectors *known = nullptr);

/// The thresholds of what was collected, in parallel over the tensors. fails: Cancelled
Result<CalibrateOutcome> calibrated(const CollectedStatistics &statistics,
                                    const calibration::ThresholdOptions &threshold, unsigned threads,
                                    const Progress &progress);

/// Runs the model over the examples once and collects the statistics of every tensor of floating point, without keeping
/// any values, then chooses thresholds. Both in parallel; the result does not depend on the threads, nor on the batch unless
/// options.asBatches.
/// fails: what reading the examples refuses; what interpret::Interpreter refuses; BadCall for a malformed pattern or one
/// that matches nothing (Field::Layers); Cancelled
Result<CalibrateOutcome> calibrateModel(const graph::Model &model, const std::string &modelPath,
                                        const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::jobs
