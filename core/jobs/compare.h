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
    std::string otherBackend{}; ///< of the other model, or of the converted one; empty: `backend`
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined; ///< of both models
    tensor::DType accumulator
        = tensor::DType::Unknown; ///< of products of 16-bit values: backends::narrowSums()
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t batch = 0; ///< examples at a time; 0: as many as fit, pictures one by one
    profile::CompareSettings settings;
    /// Each example alone, with the kernels for one example and one thread, several side by side: figures depend neither on
    /// `batch`, nor on `threads`, nor on the part. Arrays that cannot be taken apart are computed as else.
    bool eachAlone = false;
    Part part{}; ///< of the examples; only where each is computed alone
};

/// What a part of the examples told; parts of the same data add up.
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
    profile::ComparedModels models; ///< for the names of nodes
    std::vector<std::string> outputs; ///< names of the heads
    profile::Unmatched unmatched;
    std::size_t examples = 0; ///< 0 where the arrays have no axis of examples
    std::size_t expected = 0; ///< examples there are: more than `examples` in what is known meanwhile
    bool isWhole = true; ///< false for what is known meanwhile: examples, or layers alone, are still to come
    std::size_t batch = 0; ///< examples at a time; 0: all
    double seconds = 0;
    backends::Arithmetic arithmetic = backends::Arithmetic::Defined;
    std::vector<policy::Warning> warnings; ///< about the other model
    /// Of the first head, where there are labels.
    std::optional<Accuracy> reference;
    std::optional<Accuracy> other;
    std::optional<TaskScore> task; ///< likewise of the first head
    std::optional<CompareParts> parts; ///< where each example was computed alone
    std::size_t all = 0; ///< examples there are, in all parts; 0 where they are not told apart
    /// Of weights that kernels packed and kept, about; 0 where each was packed when it was used, or where that is not known.
    std::size_t packedBytes = 0;
};

/// Is given what is known so far, from time to time, by the thread that compares.
using InterimOutcome = std::function<void(CompareOutcome)>;

/// Compares two models over examples. Where a batch does not fit the memory limit, halves of it are tried.
/// fails: what reading the examples refuses; what profile::LayerCompare refuses; Unsupported for one example that does not
/// fit (Field::Memory); BadCall for a part of what is one piece; BadInput when the float32 run gives NaN or infinities, naming the first node; Cancelled
Result<CompareOutcome> compareModels(profile::ComparedModels models, const std::string &modelPath,
                                     const CompareOptions &options, const Progress &progress,
                                     const InterimOutcome &interim = {});

} // namespace halftone::jobs
