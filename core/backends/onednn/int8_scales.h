#pragma once

#include "core/backends/onednn/lower.h"

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

/// (x - zeroFrom) · factor + zeroTo.
struct Rescaling
{
    double factor = 1;
    std::int32_t zeroFrom = 0;
    std::int32_t zeroTo = 0;
};

/// Copies with a factor: what lies in `from` times `factor`, rounded and saturated to the type of `to`.
Result<void> rescale(Emitter &emitter, const plan::PlanNode &node, const Place &from, const Place &to,
                     double factor);

Result<void> rescale(Emitter &emitter, const plan::PlanNode &node, const Place &from, const Place &to,
                     const Rescaling &rescaling);

/// The channels last where there are such, else row-major: how tensors of codes lie.
Desc codeLayout(const Dims &dims, Type type);
/// Codes of one scale joined along axis 1.
Result<void> joinCodes(Emitter &emitter, const plan::PlanNode &node);
/// `place`, or, where a tensor of one pixel lies with its channels last, the same memory as row-major.
Place normalised(Place place);

} // namespace halftone::backends::onednn
