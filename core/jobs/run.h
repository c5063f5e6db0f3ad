#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/arrays/npz.h"
#include "core/jobs/accuracy_count.h"
#include "core/jobs/examples.h"
#include "core/jobs/task_metric.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::jobs {

struct RunSettings
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    tensor::DType accumulator
        = tensor::DType::Unknown; ///< of products of 16-bit values: backends::narrowSums()
    unsigned threads = 0; ///< 0: as many as the machine has
    std::size_t batch = 0; ///< examples at a time; 0: all arrays at once, pictures one by one
    bool allNodes = false; ///< every node's value instead of the heads'
    std::optional<std::uint64_t> randomParameters; ///< seed
};

struct RunOutcome
{
    std::vector<io::NamedTensor> outputs; ///< batches joined along the first axis
    double seconds
        = 0; ///< spent in the network alone; where batches run side by side, their sum over their number
    std::size_t batches = 0;
    std::map<std::string, std::size_t> kernels; ///< how many nodes each kernel computed
    std::optional<Accuracy> accuracy; ///< of the first head, where there are labels
    std::optional<TaskScore> task; ///< of the first head, where it is known what is right
};

/// Runs a model over examples.
/// fails: what reading the examples refuses; what interpret::Interpreter refuses; BadInput without outputs, and for those of several batches
/// that cannot be joined.
Result<RunOutcome> runModel(const graph::Model &model, const std::string &modelPath,
                            const RunSettings &settings, const Progress &progress);

/// What a model without inputs gives, head by head, by the reference backend. fails: as interpret::Interpreter
Result<std::vector<tensor::Tensor>> constantHeads(const graph::Model &model, const Progress &progress);

/// The names of a graph's heads as the model had them before conversion: casts that a conversion put behind a head are
/// looked through. Two heads of one name are told apart by "_1", "_2", ….
std::vector<std::string> sourceOutputNames(const graph::Graph &graph);

} // namespace halftone::jobs
