#include "core/mixed/cast_params.h"

#include "core/dialect/dialect.h"

#include <unordered_map>

namespace halftone::mixed {
Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const rewrite::Conversion &conversion, bool clamps,
                                  tensor::FormCache &forms, const Progress &progress)
{
    std::unordered_map<std::string_view, tensor::DType> wanted;
    for (const rewrite::StoredParameter &parameter : conversion.parameters)
        if (!parameter.losses) // a constant is cast already
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
            auto cast = tensor::castLater(array.values, change.to, &change.losses);
            if (!cast.ok()) {
                Error error = std::move(cast).error();
                error.where = array.name;
                return error;
            }
            forms.keep(array.values, change.to, {cast.value(), change.losses});
            array.values = std::move(cast).value();
        }
        change.isClamped = clamps && change.losses.overflowed > 0 && change.to != tensor::DType::F32;
        if (change.isClamped)
            array.values = tensor::clampedTo(arrays[k].values, change.to);
        result.changes.push_back(std::move(change));
    }
    return result;
}

void listConstants(const graph::Graph &source, const rewrite::Conversion &conversion,
                   std::vector<ParameterChange> &changes)
{
    for (const rewrite::StoredParameter &stored : conversion.parameters)
        if (stored.losses)
            changes.push_back({dialect::of(source).entryName(source, {stored.variable, 0, 0}), stored.from,
                               stored.to, *stored.losses, stored.isClamped});
    for (const rewrite::ConvertedBody &body : conversion.bodies)
        listConstants(*source.node(body.node).subgraphs[body.body], body.conversion, changes);
}

} // namespace halftone::mixed
