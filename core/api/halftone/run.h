#pragma once

#include "halftone/data.h"
#include "halftone/open.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

struct RunOptions
{
    Compute compute;
    bool allNodes = false; ///< return the value of every node instead of the outputs
    std::optional<Type> accumulate
        = {}; ///< accumulator of 16-bit products, emulated: Float16 or BFloat16; absent: Float32
    std::optional<std::uint64_t> randomParameters = {}; ///< seed for drawing missing parameters
};

struct Run
{
    std::vector<Array>
        outputs; ///< batches concatenated; named as the source's outputs, or NODE and NODE:k for all nodes
    double seconds = 0; ///< of the model only
    std::size_t batches = 0;
    std::map<std::string, std::size_t> kernels; ///< number of nodes computed by each kind of kernel
    std::optional<Accuracy> accuracy; ///< if there are labels
    std::optional<TaskScore> task; ///< if there are labels or targets
    std::string report; ///< as JSON: what `run --json` prints
};

/// Runs a model over examples.
/// fails: BadInput for invalid data; Unsupported for an operator without a kernel; Cancelled
Result<Run> run(const Model &model, const Data &data, const RunOptions &options = {},
                const Progress &progress = {});

struct PrepareOptions
{
    std::string backend = "cpu";
    std::optional<Type> precision = {}; ///< as Compute::precision
    unsigned threads = 0; ///< 0: one per core
    bool allNodes = false; ///< as RunOptions
    std::vector<std::string> outputs
        = {}; ///< only these: names of outputs, or of values as with allNodes; empty: all outputs
    std::optional<Type> accumulate = {};
    std::optional<std::uint64_t> randomParameters = {};
};

/// A model that is ready to run again and again. A float32 model whose outputs alone are wanted is planned for speed on the first run with each
/// set of input shapes; otherwise nodes are computed one by one, exactly as run() does. Immutable to its users, cheap to copy; threads may
/// run one at the same time.
class Prepared
{
public:
    /// Runs on the given inputs, whose elements are only read during the call. fails: BadInput for a missing or unknown input, a wrong
    /// shape or type, or an array whose size does not match its shape; Unsupported for an operator without a kernel; Cancelled
    Result<std::vector<Array>> run(const std::vector<Array> &inputs, const Progress &progress = {}) const;

private:
    friend struct Inside;
    struct Content;
    explicit Prepared(std::shared_ptr<Content> content);

    std::shared_ptr<Content> m_content;
};

/// fails: BadCall for an unknown backend or output; Unsupported for a backend that is not available
Result<Prepared> prepare(const Model &model, const PrepareOptions &options = {});

/// Prepares a model and runs it once. fails: as prepare() and Prepared::run()
Result<std::vector<Array>> run(const Model &model, const std::vector<Array> &inputs,
                               const Compute &compute = {}, const Progress &progress = {});

} // namespace halftone::api
