#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/jobs/accuracy_count.h"
#include "core/jobs/examples.h"
#include "core/jobs/part.h"
#include "core/jobs/task_parts.h"
#include "core/policy/rules.h"
#include "core/profile/compared_parts.h"
#include "core/profile/layer_compare.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halftone::jobs {

struct CompareOptions
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    std::string otherBackend{}; ///< backend of the second (or converted) model; empty: `backend`
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined; ///< of both models
    tensor::DType accumulator
        = tensor::DType::Unknown; ///< accumulator of 16-bit products: backends::narrowSums()
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples at a time; 0: as many as fit, pictures one by one
    profile::CompareSettings settings;
    /// Computes each example separately, with kernels for one example and one thread, several in parallel: figures do not depend on
    /// `batch`, `threads` or the shard. Arrays that cannot be split are computed as usual.
    bool eachAlone = false;
    Part part{}; ///< shard of the examples; only if each is computed separately
};

/// Results of a shard of the examples; shards of the same data can be added.
struct CompareParts
{
    profile::ComparedParts parts;
    AccuracyHits reference;
    AccuracyHits other;
    TaskParts task;
};

struct CompareOutcome
{
    profile::Comparison comparison;
    profile::ComparedModels models; ///< gives the names of nodes
    std::vector<std::string> outputs; ///< names of the outputs
    profile::Unmatched unmatched;
    std::size_t examples = 0; ///< 0 if the arrays have no batch axis
    std::size_t expected = 0; ///< total number of examples; more than `examples` in intermediate results
    bool isWhole = true; ///< false for intermediate results: examples or isolated errors are still missing
    std::size_t batch = 0; ///< examples at a time; 0: all
    double seconds = 0;
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined;
    std::vector<policy::Warning> warnings; ///< about the second model
    /// Of the first output, if there are labels.
    std::optional<Accuracy> reference;
    std::optional<Accuracy> other;
    std::optional<TaskScore> task; ///< likewise for the first output
    std::optional<CompareParts> parts; ///< if each example was computed separately
    std::size_t all = 0; ///< number of examples in all shards; 0 if they cannot be split
    /// Approximate bytes of packed weights kept by kernels; 0 if they were packed on use, or unknown.
    std::size_t packedBytes = 0;
};

/// Receives intermediate results from time to time, on the comparing thread.
using InterimOutcome = std::function<void(CompareOutcome)>;

/// Compares two models over examples. If a batch exceeds the memory limit, it is halved.
/// fails: errors of reading the examples and of profile::LayerCompare; Unsupported if one example exceeds the limit (Field::Memory);
/// BadCall for a shard of examples that cannot be split; BadInput if float32 produces NaN or infinities, naming the first node; Cancelled
Result<CompareOutcome> compareModels(profile::ComparedModels models, const std::string &modelPath,
                                     const CompareOptions &options, const Progress &progress,
                                     const InterimOutcome &interim = {});

} // namespace halftone::jobs
