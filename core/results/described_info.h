#pragma once

#include "core/base/json.h"
#include "core/infer/infer_shapes.h"
#include "core/io/model_io.h"

namespace halftone::results {

/// What `info --json` prints of a file that describes itself. `shapes`: with what arithmetic on shapes says; `params`, `notes`: as of any model.
/// Needs: io::LoadedModel::facts.
OrderedJson describedInfo(const io::LoadedModel &loaded, const infer::ShapeMap &shapes, OrderedJson params,
                          OrderedJson inBodies, OrderedJson notes);

/// "format" of `info --json`.
std::string_view infoNameOf(const graph::Graph &graph);

/// How many units (core/patterns) of each kind a model has, by title.
OrderedJson unitsJson(const graph::Model &model);

} // namespace halftone::results
