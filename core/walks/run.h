#pragma once

#include "core/backends/backends.h"
#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/io/arrays/npz.h"
#include "core/tasks/accuracy_count.h"
#include "core/tasks/task_metric.h"
#include "core/walks/examples.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::walks {

struct RunSettings
{
    ExampleOptions examples;
    std::string backend{backends::kDefaultBackend};
    tensor::DType accumulator
        = tensor::DType::Unknown; ///< accumulator of 16-bit products: backends::narrowSums()
    tensor::DType precision = tensor::DType::Unknown; ///< as backends::planningBackend()
    unsigned threads = 0; ///< 0: one per core
    std::size_t batch = 0; ///< examples at a time; 0: all arrays at once, pictures one by one
    bool allNodes = false; ///< values of all nodes instead of the outputs
    std::optional<std::uint64_t> randomParameters; ///< seed for missing parameters
};

struct RunOutcome
{
    std::vector<io::NamedTensor> outputs; ///< batches concatenated along the first axis
    double seconds = 0; ///< time in the model only; for parallel batches, the sum divided by their number
    std::size_t batches = 0;
    std::map<std::string, std::size_t> kernels; ///< number of nodes per kernel
    std::optional<tasks::Accuracy> accuracy; ///< of the first output, if there are labels
    std::optional<tasks::TaskScore> task; ///< of the first output, if expected values are known
    std::vector<std::string> notes = {}; ///< what the data lack and was chosen; how a runtime gave the values
};

/// Runs a model over examples.
/// fails: errors of reading the examples and of interpret::Interpreter; BadInput if there are no outputs, or if those of several batches
/// cannot be concatenated.
Result<RunOutcome> runModel(const graph::Model &model, const std::string &modelPath,
                            const RunSettings &settings, const Progress &progress);

/// The outputs of a model without inputs, computed by the reference backend. fails: as interpret::Interpreter
Result<std::vector<tensor::Tensor>> constantHeads(const graph::Model &model, const Progress &progress);

/// The names of the outputs before conversion, ignoring casts that a conversion appended. Duplicate names get "_1", "_2", ….
std::vector<std::string> sourceOutputNames(const graph::Graph &graph);

} // namespace halftone::walks
