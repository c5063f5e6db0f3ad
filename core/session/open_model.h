#pragma once

#include "core/base/result.h"
#include "core/io/model_io.h"

#include <string>

namespace halftone::session {

/// io::loadModel(), and the types of the parameters looked at: those of another model of the same shapes (a symbol in
/// bfloat16 beside parameters in float32) are refused, as MXNet refuses to bind them. What contradicts itself without the
/// parameters too is left to whoever needs types.
/// fails: what io::loadModel refuses; BadInput for such parameters, naming the node
Result<io::LoadedModel> openModel(const std::string &path, const io::LoadOptions &options = {});
/// The same for a model that was loaded. fails: for such parameters
Result<io::LoadedModel> withTypesChecked(io::LoadedModel loaded);

} // namespace halftone::session
