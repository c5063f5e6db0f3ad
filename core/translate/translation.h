#pragma once

#include "core/translate/to_onnx.h"

#include <string_view>

namespace halftone::translate {

using Translation = Result<graph::Model> (*)(const graph::Model &model, const InputFacts &inputs);

/// The function that translates models of other formats to this one (dialect::Dialect::name()); null: there is none.
Translation translationTo(std::string_view format);

} // namespace halftone::translate
