#pragma once

#include "core/tune/recording.h"

#include <span>
#include <vector>

/// What a search asks first, whatever comes of it: so others may be asked ahead, on many machines (core/shards/SCALE.md).
namespace halftone::tune {

/// One group in one label, and everything else float32.
struct Candidate
{
    std::size_t group = 0;
    Label label = Label::Target;
};

/// All whose errors alone a search asks for, in its order.
std::vector<Candidate> candidatesOf(const Network &network);

/// What several records know: the first one's network and measurements, the errors of all.
/// fails: BadInput for records without groups, or of other groups than the first one's
Result<Record> mergedRecord(std::span<const Record> records);

} // namespace halftone::tune
