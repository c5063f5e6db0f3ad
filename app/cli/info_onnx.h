#pragma once

#include "app/cli/output.h"
#include "core/io/model_io.h"

namespace halftone::cli {

/// What `info --json` prints of an ONNX file. `params`, `notes`: as of any model.
Json onnxInfo(const io::LoadedModel &loaded, Json params, Json notes);

/// How many units (core/patterns) of each kind a model has, by title.
Json unitsJson(const graph::Model &model);

} // namespace halftone::cli
