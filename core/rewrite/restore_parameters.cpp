#include "core/rewrite/restore_parameters.h"

#include "core/dialect/dialect.h"
#include "core/tensor/convert.h"

#include <algorithm>
#include <unordered_map>

namespace halftone::rewrite {
namespace {

using tensor::DType;

/// Rounds the original as the conversion did and compares bytes.
Result<void> checkOrigin(const tensor::Array &stored, const tensor::Array &original)
{
    if (stored.shape != original.shape)
        return badInput(stored.name, "the float32 array has another shape", "the shape of the 16-bit one");
    HALFTONE_TRY(const tensor::Tensor rounded, tensor::castTo(original.values, stored.values.dtype()));
    if (!std::ranges::equal(rounded.bytes(), stored.values.bytes()))
        return badInput(stored.name, "the float32 array is not what the 16-bit values were rounded from",
                        "the parameters of the model before its conversion");
    return {};
}

} // namespace

Result<Rewritten> restoreParameters(const graph::Model &model, std::span<const tensor::Array> originals,
                                    const Progress &progress)
{
    std::unordered_map<std::string_view, const tensor::Array *> byName;
    for (const tensor::Array &array : originals) {
        if (array.values.dtype() == DType::F32)
            byName.insert_or_assign(dialect::variableOf(model.graph, array.name), &array);
    }
    Rewritten result{model, 0, {}};
    std::size_t left = 0;
    for (tensor::Array &array : result.model.parameters) {
        if (!tensor::isHalf(array.values.dtype()))
            continue;
        HALFTONE_CHECK(progress.checkStop());
        const auto original = byName.find(dialect::variableOf(model.graph, array.name));
        if (original == byName.end()) {
            ++left;
            continue;
        }
        HALFTONE_CHECK(checkOrigin(array, *original->second));
        array.values = original->second->values;
        ++result.changed;
    }
    if (left > 0)
        result.notes.push_back(std::to_string(left) + " parameters in 16 bit have no float32 original");
    return result;
}

} // namespace halftone::rewrite
