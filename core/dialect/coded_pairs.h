#pragma once

#include "core/graph/graph.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace halftone::dialect {

class Dialect;
class WeightForms;

/// A node that multiplies, and may do so with codes.
struct CodedProduct
{
    std::array<std::size_t, 2> factors{0, 1}; ///< inputs
    std::optional<std::size_t> bias; ///< the input that is added as it is, one number an output channel
    bool takesBias = false; ///< may one be given it where it has none?
    bool wantsCodedResult = false; ///< runtimes compute it with codes only where its result becomes codes too
};

/// What runtimes do with codes beside products.
enum class CodedSupport : std::uint8_t
{
    None,
    Moves, ///< gives values of its first input, whose codes they keep
    Computes ///< of all its real inputs
};

/// A node that reads codes of weights, perhaps in blocks: which of its inputs (slots) are what.
struct WeightCodes
{
    std::size_t codes = 0;
    std::size_t scales = 1;
    std::size_t zeroPoints = 2; ///< may be left out
    int bits = 0; ///< of a code, where several lie in an element; 0: elements are codes
    std::int64_t block = 0; ///< weights that share a scale; 0: those of a channel, or all
    std::int64_t elements = 0; ///< weights; 0: as many as codes
};

/// How a format writes int8 where operators stay what they are: each value that is to be codes passes through a node that makes
/// codes of it and one that makes reals of those, with a scale and a zero point; runtimes compute with codes what stands between
/// such pairs. Choosing and wiring is for core/quantize.
class CodedPairs
{
public:
    virtual ~CodedPairs() = default;

    /// The version of the format (Dialect::versionNumber()) that has these nodes. `perChannel`: with a scale for each channel.
    virtual int versionFor(bool perChannel) const = 0;

    /// Can nodes of that operator be computed with codes?
    virtual bool hasForm(std::string_view op) const = 0;
    virtual std::optional<CodedProduct> productOf(const graph::NodeDef &node) const = 0;
    /// Which axis of a factor counts the product's output channels, so that each may have a scale; nothing where it may not.
    virtual std::optional<std::size_t> channelAxis(const graph::NodeDef &product, std::size_t factor,
                                                   std::size_t rank) const = 0;
    /// Do runtimes compute it within the product before it, as they do a cut of the range?
    virtual bool isFused(const graph::NodeDef &node) const = 0;
    virtual CodedSupport supportOf(const graph::NodeDef &node) const = 0;
    // The next four depend on the operator's name alone.
    /// Does it give codes of its first input, or reals that were codes?
    virtual bool isPairNode(const graph::NodeDef &node) const = 0;
    /// Is it a pair node, or an operator of another domain that does the same?
    virtual bool isLikePairNode(const graph::NodeDef &node) const { return isPairNode(node); }
    /// Does it give the reals that its first input's codes stand for?
    virtual bool isDecode(const graph::NodeDef &node) const = 0;
    /// Is it an operator on codes itself, which needs no pairs around it?
    virtual bool computesCodes(const graph::NodeDef &node) const = 0;

    /// Inputs: values, scale, zero point, whose type is that of the codes. `axis`: of the scales; nothing: one for all.
    virtual graph::NodeDefPtr makeCode(std::string_view value, std::optional<std::size_t> axis) const = 0;
    /// Inputs: codes, scale, and with `hasZeroPoint` the zero point.
    virtual graph::NodeDefPtr makeDecode(std::string_view value, std::optional<std::size_t> axis,
                                         bool hasZeroPoint) const = 0;
    /// Values times scales, which stretch to their shape. `node`: whose name, and whose output's name, it has.
    virtual graph::NodeDefPtr makeScaled(const graph::NodeDef &node) const = 0;
    /// A product that gives the value of the BatchNorm that went into its weights: with a bias, and its value's name.
    virtual graph::NodeDefPtr withNorm(const graph::NodeDef &product, const graph::NodeDef &norm) const = 0;
    /// The operator on codes that computes what a product does between pairs, with inputs: codes, scale, zero point of both factors;
    /// scale, zero point of the result; codes of the bias where it has one. `result`: what its codes are called. Null: there is none.
    virtual graph::NodeDefPtr makeOperator(const graph::NodeDef &product, std::string result,
                                           bool hasBias) const = 0;
    /// What a node that is computed within the product before it lets through, where that is constant.
    virtual std::optional<std::pair<float, float>> cutOf(const graph::NodeDef &node,
                                                         std::span<const tensor::Tensor> inputs) const = 0;
    /// How the node reads weights, where its inputs are constants; nothing for one that never reads codes.
    virtual std::optional<WeightCodes> weightCodes(const graph::NodeDef &node) const = 0;
    /// Variables of a value's codes, scale and zero point.
    virtual std::string codesName(std::string_view value) const = 0;
    virtual std::string scaleName(std::string_view value) const = 0;
    virtual std::string zeroPointName(std::string_view value) const = 0;

    /// Weights alone as codes, in formats of their own; null: there are none.
    virtual const WeightForms *weightForms() const { return nullptr; }
};

/// Of the graph's format; null where it has no such pairs.
const CodedPairs *codedPairsOf(const Dialect &dialect);

} // namespace halftone::dialect
