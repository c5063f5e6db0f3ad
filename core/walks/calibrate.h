#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/calibration/calibrated.h"
#include "core/calibration/merging_collector.h"
#include "core/graph/model.h"
#include "core/walks/examples.h"
#include "core/walks/shard.h"

#include <map>
#include <string>
#include <vector>

namespace halftone::walks {

struct CalibrateOptions
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples at a time; 0: all arrays at once, pictures one by one
    calibration::ThresholdOptions threshold{};
    std::vector<std::string> tensors{}; ///< only these, by name; empty: all that `layers` selects
    bool rangesOnly = false; ///< only ranges and histograms, without statistics for 16-bit formats
    std::vector<std::string> layers{}; ///< patterns (policy::Pattern) of tensor names; empty: all tensors
    /// Measures the error of minmax and mse at the outputs of the layers that read a tensor (Q-output); if threshold.method is mse,
    /// minmax is used for tensors where it is clearly better.
    bool weighsOutputs = false;
    /// Like MXNet (Q-histogram): batches one after another, the first of which sets the ranges of the histograms. Results then depend on
    /// `batch` and on the order.
    bool asBatches = false;
    Shard shard{}; ///< of the examples; not with `asBatches`
    /// Limit for intermediate tensors and packed weights in bytes, not with `asBatches`. If it is small, fewer examples run in parallel
    /// and weights are packed on use.
    std::size_t memoryLimit = std::size_t{1} << 30;
};

/// Statistics of one tensor over a shard of the examples.
struct CollectedTensor
{
    calibration::CalibratedTensor tensor; ///< without statistics and threshold
    calibration::MergingCollector collector;
};

/// Results of a shard of the examples; shards of the same data can be added.
struct CollectedStatistics
{
    std::vector<CollectedTensor> tensors; ///< as CalibrateOutcome::tensors
    std::size_t examples = 0; ///< in the shard; 0 if the arrays have no batch axis
    std::size_t all = 0; ///< total number of examples
    double seconds = 0;
};

struct CalibrateOutcome
{
    /// Used parameters, inputs and nodes, in the order of the graph.
    std::vector<calibration::CalibratedTensor> tensors;
    std::size_t examples = 0; ///< used; 0 if the arrays have no batch axis
    double seconds = 0;
};

/// Statistics of parameters, by node; independent of the examples.
using ParameterCollectors = std::map<graph::NodeId, calibration::MergingCollector>;

/// Runs the model once over a shard of the examples and collects statistics of every floating-point tensor, without keeping values.
/// Each example is computed with kernels for one example and one thread, several in parallel.
/// known  statistics of parameters, reused between calls with the same model and options; null: not kept
/// fails: as calibrateModel(); BadCall for examples that cannot be split; Unsupported if one example exceeds the memory limit
/// (Field::Memory)
Result<CollectedStatistics> collectStatistics(const graph::Model &model, const std::string &modelPath,
                                              const CalibrateOptions &options, const Progress &progress,
                                              ParameterCollectors *known = nullptr);

/// Chooses the thresholds, in parallel over the tensors. fails: Cancelled
Result<CalibrateOutcome> calibrated(const CollectedStatistics &statistics,
                                    const calibration::ThresholdOptions &threshold, unsigned threads,
                                    const Progress &progress);

/// Runs the model once over the examples, collects statistics of every floating-point tensor without keeping values, and chooses
/// thresholds. Both run in parallel; the result does not depend on the number of threads, nor on the batch size unless
/// options.asBatches is set.
/// fails: errors of reading the examples and of interpret::Interpreter; BadCall for an invalid pattern or one without a match
/// (Field::Layers); Cancelled
Result<CalibrateOutcome> calibrateModel(const graph::Model &model, const std::string &modelPath,
                                        const CalibrateOptions &options, const Progress &progress);

} // namespace halftone::walks
