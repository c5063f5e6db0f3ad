#pragma once

#include "core/base/result.h"
#include "core/passes/conversion.h"
#include "core/passes/parameter_storage.h"
#include "core/passes/variables.h"

#include <span>

/// What a conversion says of its parameters once it is settled how each is stored.
namespace halftone::passes {

/// The definition of a variable with its type in `__dtype__`; the same one when it says that already.
graph::NodeDefPtr markedAs(const graph::NodeDefPtr &variable, tensor::DType type);

/// Writes on each parameter how it is to be stored (`__dtype__`), as MXNet does; a variable that says so already is
/// left as it is, shared with the source.
void markParameters(const graph::Graph &source, const ParameterStorage &storage, Conversion &conversion);

/// Fills Conversion::parameters with those whose type changes.
void listStoredParameters(const graph::Graph &source, std::span<const Variable> variables,
                          const ParameterStorage &storage, Conversion &conversion);

/// Types over again, now that every parameter's type is known; also the proof that the result is well typed.
/// fails: what inferTypes() refuses.
Result<void> retype(const graph::Graph &source, const ParameterStorage &storage, Conversion &conversion);

} // namespace halftone::passes
