#pragma once

#include "core/base/json.h"
#include "core/walks/quantize.h"

#include <string>
#include <vector>

namespace halftone::results {

/// What a report of a quantization repeats of its settings.
struct QuantizationSettings
{
    std::string form; ///< "qdq", "qoperator", "onednn" or "plain"
    std::string hardware; ///< empty: none
    std::string calib; ///< the method; "table": from a table
    std::string runtime = {}; ///< that it was kept to; empty: none
};

/// `quantize --json`. written  paths; empty: not written
OrderedJson quantizationJson(const walks::QuantizeOutcome &outcome, const QuantizationSettings &settings,
                             const std::vector<std::string> &written);

} // namespace halftone::results
