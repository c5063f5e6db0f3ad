#pragma once

#include "app/cli/output.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"

namespace halftone::cli {

/// What `info --json` prints of a file that describes itself. `shapes`: with what arithmetic on shapes says; `params`, `notes`: as of any model.
/// Needs: io::LoadedModel::facts.
Json describedInfo(const io::LoadedModel &loaded, const infer::ShapeMap &shapes, Json params, Json inBodies,
                   Json notes);

/// "format" of `info --json`.
std::string_view infoNameOf(const graph::Graph &graph);

/// How many units (core/patterns) of each kind a model has, by title.
Json unitsJson(const graph::Model &model);

} // namespace halftone::cli
