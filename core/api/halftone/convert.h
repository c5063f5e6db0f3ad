#pragma once

#include "halftone/open.h"
#include "halftone/policy.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace halftone::api {

struct ConvertOptions
{
    bool strict = false; ///< warnings are errors
    /// Of int8 operators, the first that is there: a table that saveCalibration() wrote, or examples. Without either they find
    /// their ranges at run time.
    std::string rangeTable;
    Data data;
    Compute compute; ///< for `data`
    bool correctBiases
        = false; ///< take the mean errors of int8 layers, measured on `data`, out of their biases
};

/// What became of a node of the source.
struct ConvertedNode
{
    std::string name;
    std::string op;
    Type type = Type::Unknown; ///< that it computes in
    std::string why; ///< the entry of the policy that decided; empty: none names it
};

struct Warning
{
    std::string about; ///< "node \"fc1\"", "fp32_ops: \"Softmax\""
    std::string text;
};

/// A converted model and what was done to get it. Immutable, cheap to copy.
class Conversion
{
public:
    const Model &source() const;
    const Model &model() const; ///< ready to be run and saved

    std::size_t casts() const; ///< of the graph: casts, multicasts, quantizations and back
    std::size_t sharedReaders() const; ///< readers that needed no cast of their own
    std::size_t storedParameters() const; ///< that changed their type
    std::size_t correctedBiases() const; ///< layers
    double seconds() const; ///< of the conversion alone
    std::vector<ConvertedNode> nodes() const; ///< operators of the source, in its order
    const std::vector<Warning> &warnings() const;
    const std::vector<std::string> &notes() const;
    /// All of it as JSON text, as the command line's report.
    std::string report() const;

private:
    friend struct Inside;
    struct Content;
    explicit Conversion(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Converts a model to mixed precision.
/// fails: BadInput for what is wrong with the policy or the model, and, if strict, for a warning; what reading the data refuses;
///        BadCall for biases to correct without int8 operators or data; Cancelled
Result<Conversion> convert(const Model &model, const Policy &policy, const ConvertOptions &options = {},
                           const Progress &progress = {});

} // namespace halftone::api
