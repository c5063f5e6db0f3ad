#pragma once

#include "core/kernels/backend.h"
#include "core/ops/op_coded.h"
#include "core/ops/operator.h"

#include <optional>
#include <span>
#include <string>

namespace halftone::backends::cuda {

/// An operator that computes each element from those at its place, as an expression of `arguments`: one for each of its inputs
/// (already stretched to the result's shape). Values and special cases are those of the reference kernels.
/// operation  types of inputs and outputs; shapes matter to a few
/// returns    nothing for other operators, and for types that kernels do not know
std::optional<std::string> elementText(const kernels::Operation &operation,
                                       std::span<const std::string> arguments);

/// What a code stands for, as float32, and the code for a real; a function of a real. Arguments and results are expressions.
std::string realText(const ops::CodeScale &scale, const std::string &code);
std::string codeText(const ops::CodeScale &scale, const std::string &real);
std::string functionText(const ops::ElementFunction &function, const std::string &x);

/// Does elementText() know the operator, of these types?
bool isElementwise(const kernels::Operation &operation);

} // namespace halftone::backends::cuda
