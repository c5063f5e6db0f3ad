#pragma once

#include "core/base/result.h"
#include "core/io/model_io.h"
#include "core/walks/examples.h"

#include <QString>

#include <optional>

/// Data for want of data: values drawn for a model's inputs, kept as a file like any other.
namespace halftone::app {

/// Draws them, and tells where they lie.
Result<QString> drawInputsFor(const io::LoadedModel &model);

bool areDrawn(const std::optional<walks::ExampleOptions> &data);

QString drawnInputsMeaning(); ///< "Random inputs give layer errors, but no accuracy."

} // namespace halftone::app
