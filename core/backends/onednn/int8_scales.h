#pragma once

#include "core/backends/onednn/lower.h"

#include <array>
#include <cstdint>
#include <optional>

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
/// Codes of one scale joined along axis 1.
Result<void> joinCodes(Emitter &emitter, const plan::PlanNode &node);
/// `place`, or, where a tensor of one pixel lies with its channels last, the same memory as row-major.
Place normalised(Place place);

} // namespace halftone::backends::onednn
