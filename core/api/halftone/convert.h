#pragma once

#include "halftone/data.h"
#include "halftone/open.h"
#include "halftone/policy.h"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace halftone::api {

struct ConvertOptions
{
    bool strict = false; ///< treat warnings as errors
    /// Ranges of int8 operators: a table written by saveCalibration(), otherwise measured on `data`. Without both, operators
    /// determine their ranges at run time.
    std::string rangeTable;
    Data data;
    Compute compute; ///< for `data`
    double percentile = 99.99; ///< for ThresholdMethod::Percentile, in percent
    int opset
        = 0; ///< ONNX: minimum opset of the result; 0: that of the model, raised if bfloat16 requires it
    bool isForAnalysis = false; ///< the result is only compared, so that targets of compare() are allowed
    bool correctBiases = false; ///< correct the biases of int8 layers for the mean error measured on `data`
};

/// The result for one node of the source.
struct ConvertedNode
{
    std::string name;
    std::string op;
    Type type = Type::Unknown; ///< it computes in
    std::string why; ///< the deciding entry of the policy; empty: no entry applies
};

struct Warning
{
    std::string about; ///< "node \"fc1\"", "fp32_ops: \"Softmax\""
    std::string text;
};

/// A converted model and the changes made. Immutable, cheap to copy.
class Conversion
{
public:
    const Model &source() const;
    const Model &model() const; ///< ready to run and save

    std::size_t casts() const; ///< casts, multicasts, quantizations and dequantizations in the graph
    std::size_t sharedReaders() const; ///< consumers that share an existing cast
    std::size_t storedParameters() const; ///< stored in a different type
    std::size_t correctedBiases() const; ///< number of layers
    double seconds() const; ///< of the conversion only
    std::vector<ConvertedNode> nodes() const; ///< operators of the source, in order
    const std::vector<Warning> &warnings() const;
    const std::vector<std::string> &notes() const;
    std::string policy() const; ///< as the text of a policy file
    std::string report() const; ///< everything as JSON: what `convert --json` prints

private:
    friend struct Inside;
    struct Content;
    explicit Conversion(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
};

/// Converts a model to mixed precision.
/// fails: BadInput for an invalid policy, model or data, and with `strict` for a warning; BadCall for bias correction without int8
///        operators or data; Unsupported for an operator that the required opset lacks; Cancelled
Result<Conversion> convert(const Model &model, const Policy &policy, const ConvertOptions &options = {},
                           const Progress &progress = {});

} // namespace halftone::api
