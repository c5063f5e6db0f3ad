#include "core/compare/layer_compare.h"
#include "core/tensor/convert.h"

#include <unordered_map>

namespace halftone::compare {

Result<void> replaceFloat16(ComparedModels &models, tensor::DType format, bool clamps,
                            const Progress &progress)
{
    using tensor::DType;
    models.float16As = format;
    std::unordered_map<std::string_view, const tensor::Array *> originals;
    for (const tensor::Array &array : models.reference.parameters)
        originals.emplace(array.name, &array);
    for (tensor::Array &array : models.other.parameters) {
        HALFTONE_CHECK(progress.checkStop());
        if (array.values.dtype() != DType::F16)
            continue;
        const auto at = originals.find(array.name);
        const tensor::Tensor original = at == originals.end() ? array.values : at->second->values;
        if (clamps) {
            array.values = tensor::clampedTo(original, format);
        } else {
            HALFTONE_TRY(array.values, tensor::castTo(original, format));
        }
    }
    return {};
}

} // namespace halftone::compare
