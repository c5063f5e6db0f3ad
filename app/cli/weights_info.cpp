#include "app/cli/weights_info.h"

#include "core/quantize/stored_weights.h"

namespace halftone::cli {

using quantize::StoredWeights;

std::vector<std::string> weightLines(const graph::Model &model)
{
    std::vector<std::string> lines;
    for (const StoredWeights &one : quantize::storedWeights(model))
        lines.push_back(one.format + ": " + withThousands(one.elements) + " weights in "
                        + counted(one.count, "matrix", "matrices") + ", "
                        + formatted("%.2f bits each", *quantize::bitsPerWeight({one})));
    return lines;
}

} // namespace halftone::cli
