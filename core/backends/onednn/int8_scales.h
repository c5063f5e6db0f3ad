#pragma once

#include "core/backends/onednn/lower.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

/// What the int8 lowerings share.
namespace halftone::backends::onednn {

/// Does oneDNN add products of codes without loss? Without VNNI it adds pairs of them in 16 bits, which saturate.
bool addsExactly();

struct Int8Ends
{
    double low = 0;
    double high = 0;
};

/// The ends of the range of a tensor of codes, from the two inputs of the node that hold its range.
/// fails  Unsupported where the range is only known at run time
Result<Int8Ends> codeEnds(const Emitter &emitter, plan::ValueId codes, plan::ValueId low, plan::ValueId high);
/// Codes for 1 of it. fails: the same
Result<double> codeScale(const Emitter &emitter, plan::ValueId codes, plan::ValueId low, plan::ValueId high);
/// The same of a node's result, whose range is its outputs 1 and 2.
Result<double> resultScale(const Emitter &emitter, const plan::PlanNode &node);

/// Weights and bias of a fused node, and the scales of what it reads and writes.
struct Int8Product
{
    tensor::Tensor codes; ///< int8
    std::vector<float>
        weightSteps; ///< reals for code 1, by output channel or one; empty: sums stay what they are
    std::vector<float> bias; ///< reals, or in the scale of the sums; empty: none
    double dataScale = 1; ///< codes for 1
    double sumStep = 1; ///< what 1 stands for before the post-operations
    double resultScale = 1; ///< codes for 1
    bool hasResultScale = false; ///< not for reals, nor for the sums themselves
};

/// A convolution by a kernel of our own. false: it does not serve here, or oneDNN's is as fast; nothing was added
Result<bool> lowerCodeConv(Emitter &emitter, const plan::PlanNode &node, const ops::FusedProduct &op,
                           const Int8Product &product);

/// Floats that a primitive reads at run time: scales, a bias.
Result<Place> floats(Emitter &emitter, const std::vector<float> &values);

/// A whole number that a primitive reads at run time: a zero point.
Result<Place> wholes(Emitter &emitter, std::int32_t value);

/// Copies with a factor: what lies in `from` less `zero`, times `factor`, rounded and saturated to the type of `to`.
Result<void> rescale(Emitter &emitter, const plan::PlanNode &node, const Place &from, const Place &to,
                     double factor, std::int32_t zero = 0);

/// Codes to be added: what one of them counts for in the sum.
struct Addend
{
    Place codes;
    double step = 1;
};
/// Writes their sum, rounded and saturated to `result`'s type, as the node's output.
/// attributes  what is done to the sum
Result<void> addCodes(Emitter &emitter, const plan::PlanNode &node, const std::array<Addend, 2> &addends,
                      const Desc &result, dnnl::primitive_attr attributes);

/// The channels last where there are such, else row-major: how tensors of codes lie.
Desc codeLayout(const Dims &dims, Type type);
/// Codes of one scale, the node's first `parts` inputs, joined along axis 1 in `result`, which lies with its channels last; but for
/// those that lie there already.
Result<void> joinCodes(Emitter &emitter, const plan::PlanNode &node, std::size_t parts, const Place &result);
/// `place`, or, where a tensor of one pixel lies with its channels last, the same memory as row-major.
Place normalised(Place place);

} // namespace halftone::backends::onednn
