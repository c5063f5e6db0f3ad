#include "core/ops/box_selection.h"

#include "core/backends/reference/kernels.h"
#include "core/backends/reference/typed.h"

namespace halftone::backends::reference {

Result<void> move(const ops::NonMaxSuppression &op, const RawArrays &arrays)
{
    const auto selected = ops::selectBoxes(op, loadedInput<float>(arrays, 0), loadedInput<float>(arrays, 1),
                                           arrays.operation.inputs[1].shape);
    if (selected.size() * 3 != arrays.outCount(0))
        return badInput("input 1", std::to_string(selected.size()) + " boxes that are kept",
                        "as many as the output has rows");
    std::vector<std::int64_t> rows;
    for (const auto &row : selected)
        rows.insert(rows.end(), row.begin(), row.end());
    store(rows, arrays.operation.outputs[0].dtype, arrays.out[0]);
    return {};
}

} // namespace halftone::backends::reference
