#pragma once

#include "halftone/convert.h"
#include "halftone/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// Errors of values against float32.
struct Errors
{
    double sqnrDb = 0; ///< signal-to-noise ratio; infinite if nothing differs
    double maxAbs = 0;
    double cosine = 1;
    std::uint64_t overflow = 0; ///< values that became infinite
    std::uint64_t nan = 0;
};

struct LayerErrors
{
    std::string name; ///< of the source node; "node:1" for its second output
    std::string op;
    Type type = Type::Unknown; ///< of the compared value
    std::optional<Errors> cumulative; ///< with all layers lowered; absent for a layer without a counterpart
    std::optional<Errors> isolated; ///< with only this layer lowered
    std::optional<Errors> isolatedAtOutputs; ///< error of the outputs with only this layer lowered
};

struct OutputErrors
{
    std::string name;
    Errors errors;
    std::optional<double> top1Agreement; ///< share of examples with the same highest-scoring class
};

/// Which errors are computed. Cumulative ones always are.
enum class Effect : std::uint8_t
{
    Cumulative, ///< with all layers lowered
    Isolated, ///< also with one layer lowered at a time (slower)
    Both, ///< the same
};

/// Whose arithmetic is used.
enum class Arithmetic : std::uint8_t
{
    Defined, ///< as the operators are defined
    Mxnet, ///< as MXNet 1.9.1 computes on a CPU
};

struct CompareOptions
{
    Compute compute;
    std::string otherBackend = {}; ///< backend of the second (or converted) model; empty: that of `compute`
    Arithmetic arithmetic = Arithmetic::Defined;
    std::optional<Type> accumulate = {}; ///< of two models: accumulator of 16-bit products; absent: Float32
    Effect effect = Effect::Cumulative;
    std::optional<double>
        threshold; ///< SQNR in dB that marks the first bad layer; absent: half of the bits of its type
    std::size_t memoryLimit = std::size_t{1} << 30; ///< limit for intermediate tensors in bytes
};

struct Comparison
{
    std::vector<LayerErrors> layers; ///< in the order of computation
    std::vector<OutputErrors> outputs;
    std::optional<std::size_t> firstDivergence; ///< index into `layers`
    std::size_t examples = 0;
    std::optional<Accuracy> reference; ///< if there are labels
    std::optional<Accuracy> other;
    std::optional<TaskScore> task; ///< how both first outputs were judged
    std::vector<std::string> unmatched; ///< nodes of either model without a counterpart
    double seconds = 0;
    std::string report; ///< as JSON: what `compare --json` prints
};

/// Compares a converted model with its source, layer by layer.
/// fails: BadInput for invalid data, or if float32 itself produces NaN or infinities; Unsupported for an operator without a kernel, or if
///        one example exceeds the memory limit; Cancelled
Result<Comparison> compare(const Conversion &conversion, const Data &data, const CompareOptions &options = {},
                           const Progress &progress = {});

/// Compares two models, which may be of different formats; nodes are matched by name. With the same model twice: on two backends.
/// fails: as above; BadInput if the numbers of outputs differ; BadCall for isolated errors, which need a conversion
Result<Comparison> compare(const Model &reference, const Model &other, const Data &data,
                           const CompareOptions &options = {}, const Progress &progress = {});

/// Compares a model with values that another program gave for all examples, the reference: named as Run::outputs with allNodes names them, or
/// as outputs. Values without a name in the model are unmatched; there are no isolated errors.
/// fails: as above; BadInput for values that match nothing, or whose shape differs
Result<Comparison> compareValues(const Model &model, const std::vector<Array> &values, const Data &data,
                                 const CompareOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
