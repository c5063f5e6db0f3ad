#pragma once

#include "app/cli/output.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"

namespace halftone::cli {

/// What `info --json` prints of an ONNX file. `shapes`: with what arithmetic on shapes says; `params`, `notes`: as of any model.
Json onnxInfo(const io::LoadedModel &loaded, const infer::ShapeMap &shapes, Json params, Json inBodies,
              Json notes);

/// How many units (core/patterns) of each kind a model has, by title.
Json unitsJson(const graph::Model &model);

} // namespace halftone::cli
