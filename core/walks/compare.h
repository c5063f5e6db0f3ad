#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/compare/compared_parts.h"
#include "core/compare/layer_compare.h"
#include "core/policy/rules.h"
#include "core/tasks/accuracy_count.h"
#include "core/tasks/task_parts.h"
#include "core/walks/examples.h"
#include "core/walks/shard.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace halftone::walks {

struct CompareOptions
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    std::string otherBackend{}; ///< backend of the second (or converted) model; empty: `backend`
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined; ///< of both models
    tensor::DType accumulator
        = tensor::DType::Unknown; ///< accumulator of 16-bit products: backends::narrowSums()
    tensor::DType precision = tensor::DType::Unknown; ///< of `otherBackend`, as backends::planningBackend()
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples at a time; 0: as many as fit, pictures one by one
    compare::CompareSettings settings;
    /// Computes each example separately, with kernels for one example and one thread, several in parallel: figures do not depend on
    /// `batch`, `threads` or the shard. Arrays that cannot be split are computed as usual.
    bool eachAlone = false;
    Shard shard{}; ///< of the examples; only if each is computed separately
};

/// Results of a shard of the examples; shards of the same data can be added.
struct CompareParts
{
    compare::ComparedParts parts;
    tasks::AccuracyHits reference;
    tasks::AccuracyHits other;
    tasks::TaskParts task;
};

struct CompareOutcome
{
    compare::Comparison comparison;
    compare::ComparedModels models; ///< gives the names of nodes
    std::vector<std::string> outputs; ///< names of the outputs
    compare::Unmatched unmatched;
    std::size_t examples = 0; ///< 0 if the arrays have no batch axis
    std::size_t expected = 0; ///< total number of examples; more than `examples` in intermediate results
    bool isWhole = true; ///< false for intermediate results: examples or isolated errors are still missing
    std::size_t batch = 0; ///< examples at a time; 0: all
    double seconds = 0;
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined;
    std::vector<policy::Warning> warnings; ///< about the second model
    std::vector<std::string> notes{}; ///< what the data lack and was chosen; how a runtime gave its values
    /// Of the first output, if there are labels.
    std::optional<tasks::Accuracy> reference;
    std::optional<tasks::Accuracy> other;
    std::optional<tasks::TaskScore> task; ///< likewise for the first output
    std::optional<CompareParts> parts; ///< if each example was computed separately
    std::size_t all = 0; ///< number of examples in all shards; 0 if they cannot be split
    /// Approximate bytes of packed weights kept by kernels; 0 if they were packed on use, or unknown.
    std::size_t packedBytes = 0;
};

/// Receives intermediate results from time to time, on the comparing thread.
using InterimOutcome = std::function<void(CompareOutcome)>;

/// Compares two models over examples. If a batch exceeds the memory limit, it is halved.
/// fails: errors of reading the examples and of compare::LayerCompare; Unsupported if one example exceeds the limit (Field::Memory);
/// BadCall for a shard of examples that cannot be split; BadInput if float32 produces NaN or infinities, naming the first node; Cancelled
Result<CompareOutcome> compareModels(compare::ComparedModels models, const std::string &modelPath,
                                     const CompareOptions &options, const Progress &progress,
                                     const InterimOutcome &interim = {});

} // namespace halftone::walks
