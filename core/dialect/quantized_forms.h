#pragma once

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/ops/operator.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// How a format writes int8: which operators have integer forms, what is fused into one, and what nodes and arrays are
/// called. Choosing and wiring is for core/quantize.
namespace halftone::dialect {

/// What an int8 form is a form of.
enum class Int8Kind : std::uint8_t
{
    None,
    Convolution,
    FullyConnected,
    Pooling,
    Activation,
    BatchNorm,
    Concat,
    Flatten,
    Sum, ///< of two tensors, element by element
    Product, ///< likewise
    Embedding
};

/// Multiplies by weights.
constexpr bool isWeighted(Int8Kind kind)
{
    return kind == Int8Kind::Convolution || kind == Int8Kind::FullyConnected;
}

/// What quantized codes stand for.
struct CodedRange
{
    float low = 0;
    float high = 0;
};

/// Nodes that become one before they are quantized: the weighted one and what of these follows it.
struct FusedChain
{
    Int8Kind kind = Int8Kind::Convolution; ///< or FullyConnected
    bool hasBatchNorm = false;
    bool hasSum = false;
    bool hasActivation = false;
};

/// How the int8 form of a node is to be.
struct Int8Form
{
    Int8Kind kind = Int8Kind::None;
    bool isFused = false;
    bool perChannel = false; ///< of FullyConnected: a scale for each output channel
    bool realOutput = false; ///< gives reals, though it knows the range of its codes
    std::optional<CodedRange> range{};
    std::optional<int>
        mostCode{}; ///< no code of the result is larger: the range is wider for that than the values
};

class QuantizedForms
{
public:
    virtual ~QuantizedForms() = default;

    /// By operator name; None for those without an int8 form.
    virtual Int8Kind kindOf(std::string_view op) const = 0;

    /// Does inference pass the input on as it is?
    virtual bool isIdentity(const graph::NodeDef &node) const = 0;
    /// May the function be fused to the end of `chain`, and is it then what the node computes? `isCalibrated`: the fused
    /// node knows its range.
    /// fails: BadInput for an attribute that does not read, naming the node.
    virtual Result<bool> mayFuse(const graph::NodeDef &function, const FusedChain &chain,
                                 bool isCalibrated) const = 0;
    /// The node that a chain becomes, the `number`th of its kind.
    virtual graph::NodeDefPtr makeFused(const FusedChain &chain, std::size_t number,
                                        std::shared_ptr<const graph::Graph> body) const = 0;
    /// Does a fused node add a tensor to what it multiplies?
    virtual bool hasSum(const graph::NodeDef &fused) const = 0;

    virtual graph::NodeDefPtr makeInt8(const graph::NodeDef &node, const Int8Form &form) const = 0;
    /// Nodes that stand behind `base` and turn reals into codes, sums of codes into codes, codes into reals.
    virtual graph::NodeDefPtr makeQuantize(const std::string &base, ops::QuantizedType type,
                                           const std::optional<CodedRange> &range) const = 0;
    virtual graph::NodeDefPtr makeRequantize(const std::string &base, ops::QuantizedType type,
                                             const std::optional<CodedRange> &range) const = 0;
    virtual graph::NodeDefPtr makeDequantize(const std::string &base) const = 0;
    /// Variables of a parameter's codes and of the ends of their range.
    virtual std::string codesName(std::string_view parameter) const = 0;
    virtual std::string lowName(std::string_view codes) const = 0;
    virtual std::string highName(std::string_view codes) const = 0;

    /// The node that an int8 node, or one that rescales its sums, was made from, by name; nothing for other nodes.
    virtual std::optional<std::string_view> sourceOf(std::string_view name) const = 0;
    /// Is it the int8 form of an operator that multiplies by weights, fused ones included?
    virtual bool isInt8Product(const graph::NodeDef &node) const = 0;
    /// Of an int8 product: do its weights have a scale for each output channel?
    virtual bool isPerChannel(const graph::NodeDef &node) const = 0;

    /// The range written in an int8 node; empty where it is found at run time.
    virtual ops::CalibratedRange rangeOf(const graph::NodeDef &node) const = 0;
    /// Is that range wider than the values on purpose (Int8Form::mostCode)?
    virtual bool isWidened(const graph::NodeDef &node) const = 0;
    virtual graph::NodeDefPtr withRange(const graph::NodeDef &node, const CodedRange &range) const = 0;
    /// Does the format's usual text of this range lose digits, so that a longer one is written?
    virtual bool needsLongText(const CodedRange &range) const = 0;
};

} // namespace halftone::dialect
