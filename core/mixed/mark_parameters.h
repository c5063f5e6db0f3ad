#pragma once

#include "core/base/result.h"
#include "core/infer/variables.h"
#include "core/mixed/parameter_storage.h"
#include "core/rewrite/conversion.h"

#include <span>

/// What a conversion says of its parameters once it is settled how each is stored.
namespace halftone::mixed {

/// Writes on each parameter how it is to be stored (`__dtype__`), as MXNet does; a variable that says so already is
/// left as it is, shared with the source.
void markParameters(const graph::Graph &source, const ParameterStorage &storage,
                    rewrite::Conversion &conversion);

/// Writes their type on the parameters that nothing else in the converted graph tells it of: those that reach only casts,
/// through operators that say nothing of types. MXNet's simple_bind refuses a graph with an open type.
void markOpenParameters(const graph::Graph &source, std::span<const infer::Variable> variables,
                        rewrite::Conversion &conversion);

/// Fills Conversion::parameters with those whose type changes.
void listStoredParameters(const graph::Graph &source, std::span<const infer::Variable> variables,
                          const ParameterStorage &storage, rewrite::Conversion &conversion);

/// Types over again, now that every parameter's type is known; also the proof that the result is well typed.
/// fails: what inferTypes() refuses.
Result<void> retype(const graph::Graph &source, const ParameterStorage &storage,
                    rewrite::Conversion &conversion);

} // namespace halftone::mixed
