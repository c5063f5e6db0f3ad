#pragma once

#include "core/shards/statistics_file.h"
#include "core/tune/model_oracle.h"

#include <string>

namespace halftone::tune {

/// Of a search: model and data by their content, what has a say in its answers, the kind of CPU.
/// fails: what reading the data refuses
Result<shards::StatisticsOrigin> originOf(const TuneTask &task);
/// The same as Record::basis: good on any machine of the kind.
std::string basisOf(const shards::StatisticsOrigin &origin);

} // namespace halftone::tune
