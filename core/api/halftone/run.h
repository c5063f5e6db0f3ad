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
    std::vector<float> floats() const; ///< the elements of any type as float32
};

/// Share of the examples whose correct class scores highest, or is among the five highest.
struct Accuracy
{
    double top1 = 0;
    double top5 = 0;
    std::size_t examples = 0;
};

struct RunOptions
{
    Compute compute;
    bool allNodes = false; ///< return the value of every node instead of the outputs
    std::optional<std::uint64_t> randomParameters; ///< seed for drawing missing parameters
};

struct Run
{
    std::vector<Array> outputs; ///< batches concatenated
    double seconds = 0; ///< of the model only
    std::size_t batches = 0;
    std::map<std::string, std::size_t> kernels; ///< number of nodes computed by each kind of kernel
    std::optional<Accuracy> accuracy; ///< if there are labels
};

/// Runs a model over examples in files.
/// fails: BadInput for invalid data; Unsupported for an operator without a kernel; Cancelled
Result<Run> run(const Model &model, const Data &data, const RunOptions &options = {},
                const Progress &progress = {});

/// Runs a model once on the given inputs. fails: BadInput for a missing or unknown input, a wrong shape, or an array whose size does not
/// match its shape; Unsupported; Cancelled
Result<std::vector<Array>> run(const Model &model, const std::vector<Array> &inputs,
                               const Compute &compute = {}, const Progress &progress = {});

} // namespace halftone::api
