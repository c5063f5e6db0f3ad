#include "core/mixed/cast_params.h"

#include "core/dialect/dialect.h"
#include "core/tensor/elements.h"

#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace halftone::mixed {
namespace {

/// `cast` with the ends of float16's or bfloat16's range where a finite value of `source` became infinite.
tensor::Tensor clamped(const tensor::Tensor &source, const tensor::Tensor &cast)
{
    const std::uint16_t largest = cast.dtype() == tensor::DType::F16 ? 0x7BFF : 0x7F7F;
    const std::uint16_t infinite = largest + 1;
    std::vector<double> before(source.elementCount());
    tensor::widen(source.dtype(), source.bytes().data(), before.size(), before.data());
    std::vector<std::uint16_t> after = cast.values<std::uint16_t>();
    for (std::size_t k = 0; k < after.size(); ++k)
        if ((after[k] & 0x7FFF) == infinite && std::isfinite(before[k]))
            after[k] = static_cast<std::uint16_t>((after[k] & 0x8000) | largest);
    const auto *const bytes = reinterpret_cast<const std::byte *>(after.data());
    return tensor::Tensor::owning(cast.dtype(), cast.shape(),
                                  std::vector<std::byte>(bytes, bytes + after.size() * sizeof after[0]));
}

} // namespace

Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const rewrite::Conversion &conversion, bool clamps,
                                  tensor::FormCache &forms, const Progress &progress)
{
    std::unordered_map<std::string_view, tensor::DType> wanted;
    for (const rewrite::StoredParameter &parameter : conversion.parameters)
        wanted.emplace(source.node(parameter.variable).name, parameter.to);
    CastParameters result;
    result.arrays.assign(arrays.begin(), arrays.end());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        HALFTONE_CHECK(progress.checkStop());
        progress.tell(static_cast<double>(k) / static_cast<double>(arrays.size()), "casting parameters");
        tensor::Array &array = result.arrays[k];
        const auto found = wanted.find(dialect::variableOf(source, array.name));
        if (found == wanted.end() || array.values.dtype() == found->second
            || array.values.dtype() == tensor::DType::Unknown)
            continue;
        ParameterChange change{array.name, array.values.dtype(), found->second, {}};
        if (const auto *const known = forms.find(array.values, change.to)) {
            change.losses = known->losses;
            array.values = known->values;
        } else {
            auto cast = tensor::castTo(array.values, change.to, &change.losses);
            if (!cast.ok()) {
                Error error = std::move(cast).error();
                error.where = array.name;
                return error;
            }
            forms.keep(array.values, change.to, {cast.value(), change.losses});
            array.values = std::move(cast).value();
        }
        change.isClamped = clamps && change.losses.overflowed > 0 && tensor::sizeOf(change.to) == 2;
        if (change.isClamped)
            array.values = clamped(arrays[k].values, array.values);
        result.changes.push_back(std::move(change));
    }
    return result;
}

} // namespace halftone::mixed
