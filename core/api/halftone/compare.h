#pragma once

#include "halftone/convert.h"
#include "halftone/run.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halftone::api {

/// How far values lie from float32's.
struct Errors
{
    double sqnrDb = 0; ///< signal to noise; infinite where nothing differs
    double maxAbs = 0;
    double cosine = 1;
    std::uint64_t overflow = 0; ///< values that became infinite
    std::uint64_t nan = 0;
};

struct LayerErrors
{
    std::string name; ///< of the source's node; "node:1" for a further output
    std::string op;
    Type type = Type::Unknown; ///< of the compared value
    std::optional<Errors> cumulative; ///< all layers lowered; nothing for one without a counterpart
    std::optional<Errors> isolated; ///< this layer alone lowered
    std::optional<Errors> isolatedAtOutputs; ///< what that does to the outputs
};

struct OutputErrors
{
    std::string name;
    Errors errors;
    std::optional<double> top1Agreement; ///< share of examples with the same first class
};

struct CompareOptions
{
    Compute compute;
    bool isolated = false; ///< each layer alone as well: slower
    std::optional<double>
        threshold; ///< dB below which a layer counts as diverged; absent: half of the bits of its type
    std::size_t memoryLimit = std::size_t{1} << 30; ///< bytes of values held at a time
};

struct Comparison
{
    std::vector<LayerErrors> layers; ///< in the order of computation
    std::vector<OutputErrors> outputs;
    std::optional<std::size_t> firstDivergence; ///< index into `layers`
    std::size_t examples = 0;
    std::optional<Accuracy> reference; ///< where there are labels
    std::optional<Accuracy> other;
    double seconds = 0;
};

/// A conversion's source against what became of it.
/// fails: what reading the data refuses; BadInput where float32 itself gives NaN or infinities; Unsupported for an operator without a
///        kernel, and where one example does not fit the memory limit; Cancelled
Result<Comparison> compare(const Conversion &conversion, const Data &data, const CompareOptions &options = {},
                           const Progress &progress = {});

/// Two models, their nodes matched by name. fails: as the one above; BadInput for models with different numbers of outputs, BadCall for
/// isolated layers, which only a conversion knows
Result<Comparison> compare(const Model &reference, const Model &other, const Data &data,
                           const CompareOptions &options = {}, const Progress &progress = {});

} // namespace halftone::api
