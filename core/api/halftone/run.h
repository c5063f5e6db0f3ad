#pragma once

#include "halftone/open.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// A dense array in row-major order.
struct Array
{
    std::string name;
    Type type = Type::Unknown;
    Shape shape;
    std::vector<std::byte> bytes;

    static Array of(std::string name, Shape shape, const std::vector<float> &values);
    std::vector<float> floats() const; ///< the elements, of whatever type, as float32
};

/// Shares of the examples whose right class is the first, or among the first five.
struct Accuracy
{
    double top1 = 0;
    double top5 = 0;
    std::size_t examples = 0;
};

struct RunOptions
{
    Compute compute;
    bool allNodes = false; ///< every node's value in place of the outputs
    std::optional<std::uint64_t> randomParameters; ///< seed: draws those that the model lacks
};

struct Run
{
    std::vector<Array> outputs; ///< batches joined
    double seconds = 0; ///< in the network alone
    std::size_t batches = 0;
    std::map<std::string, std::size_t> kernels; ///< how many nodes each kind of kernel computed
    std::optional<Accuracy> accuracy; ///< where there are labels
};

/// Runs a model over examples in files.
/// fails: what reading them refuses; Unsupported for an operator without a kernel; Cancelled
Result<Run> run(const Model &model, const Data &data, const RunOptions &options = {},
                const Progress &progress = {});

/// Runs a model once on these inputs. fails: BadInput for an input that is missing, unknown or of a wrong shape, or an array whose bytes do
/// not fit its shape; Unsupported; Cancelled
Result<std::vector<Array>> run(const Model &model, const std::vector<Array> &inputs,
                               const Compute &compute = {}, const Progress &progress = {});

} // namespace halftone::api
