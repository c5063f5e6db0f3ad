#pragma once

#include "core/graph/graph.h"
#include "core/tensor/weight_format.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace halftone::dialect {

/// A node that reads a matrix of weights.
struct WeightReader
{
    enum class Kind : std::uint8_t
    {
        Product, ///< values times the matrix [K, N], and nothing else
        Layer, ///< likewise, with a bias and options of its own; perhaps [N, K]
        Filters, ///< a convolution: [N, …]
        Rows ///< takes rows of a table [N, K]
    };
    Kind kind = Kind::Product;
    std::size_t weights = 1; ///< the input that holds them
    std::size_t other = 0; ///< the input that is multiplied with them, or says which rows
    bool outputsFirst = false; ///< the matrix is [N, K]
};

/// How a format stores weights as codes in blocks while products compute in a real type (core/quantize/RULES.md, W-forms).
class WeightForms
{
public:
    virtual ~WeightForms() = default;

    virtual std::optional<WeightReader> readerOf(const graph::NodeDef &node) const = 0;
    /// Does it swap the two axes of a matrix?
    virtual bool isTranspose(const graph::NodeDef &node) const = 0;

    /// The version of the format (Dialect::versionNumber()) that decodes such codes; 0: none does.
    virtual int versionFor(const tensor::WeightFormat &format) const = 0;
    /// Is there an operator that reads such codes itself?
    virtual bool hasOperator(const tensor::WeightFormat &format, WeightReader::Kind kind) const = 0;

    /// Gives `result`, which is the type of the scales where these are real. Inputs: codes, scales, and zero points where the format has
    /// them. `axis`: along which blocks lie, or a channel's scales.
    virtual graph::NodeDefPtr makeDecode(std::string_view weights, std::size_t axis,
                                         const tensor::WeightFormat &format, tensor::DType result) const = 0;
    /// Scales that are codes themselves, by one for the matrix. Inputs: scales, that one.
    virtual graph::NodeDefPtr makeScaleDecode(std::string_view weights) const = 0;
    /// In place of `node`, whose name and results it has. Inputs: the other one, packed codes, scales, and with zero points these.
    /// Needs: hasOperator()
    virtual graph::NodeDefPtr makeOperator(const graph::NodeDef &node, const tensor::WeightFormat &format,
                                           std::int64_t inputs, std::int64_t outputs) const = 0;
};

} // namespace halftone::dialect
