#pragma once

#include "core/tune/model_oracle.h"
#include "core/tune/recording.h"

#include <string>

namespace halftone::tune {

/// The record of a search in a file, of this machine or good on any of its kind; an empty one where there is no file yet.
/// file    empty: none
/// isPart  the record is for shards, which other machines may search
/// fails: BadInput for a file that is no record, or belongs to another search; what reading the data refuses
Result<Record> keptRecord(const TuneTask &task, const std::string &file, bool isPart);

} // namespace halftone::tune
