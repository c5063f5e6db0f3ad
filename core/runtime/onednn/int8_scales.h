#pragma once

#include "core/runtime/onednn/lower.h"

#include <optional>

/// What the int8 lowerings share.
namespace halftone::runtime::onednn {

/// Codes for 1 of a tensor of codes, from the two inputs of the node that hold its range.
/// fails  Unsupported where the range is only known at run time
Result<double> codeScale(const Emitter &emitter, ValueId codes, ValueId low, ValueId high);
/// The same of a node's result, whose range is its outputs 1 and 2.
Result<double> resultScale(const Emitter &emitter, const PlanNode &node);

/// Floats that a primitive reads at run time: scales, a bias.
Result<Place> floats(Emitter &emitter, const std::vector<float> &values);

/// The channels last where there are such, else row-major: how tensors of codes lie.
Desc codeLayout(const Dims &dims, Type type);
/// `place`, or, where a tensor of one pixel lies with its channels last, the same memory as row-major.
Place normalised(Place place);

} // namespace halftone::runtime::onednn
