#include "core/passes/cast_params.h"

#include "core/graph/model.h"

#include <unordered_map>

namespace halftone::passes {

Result<CastParameters> castParams(std::span<const tensor::Array> arrays, const graph::Graph &source,
                                  const Conversion &conversion, const Progress &progress)
{
    std::unordered_map<std::string_view, tensor::DType> wanted;
    for (const StoredParameter &parameter : conversion.parameters)
        wanted.emplace(source.node(parameter.variable).name, parameter.to);
    CastParameters result;
    result.arrays.assign(arrays.begin(), arrays.end());
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "casting the parameters was cancelled", {}};
        progress.tell(static_cast<double>(k) / static_cast<double>(arrays.size()), "casting parameters");
        tensor::Array &array = result.arrays[k];
        const auto found = wanted.find(graph::variableOf(array.name));
        if (found == wanted.end() || array.values.dtype() == found->second
            || array.values.dtype() == tensor::DType::Unknown)
            continue;
        ParameterChange change{array.name, array.values.dtype(), found->second, {}};
        auto cast = tensor::castTo(array.values, found->second, &change.losses);
        if (!cast.ok()) {
            Error error = std::move(cast).error();
            error.where = array.name;
            return error;
        }
        array.values = std::move(cast).value();
        result.changes.push_back(std::move(change));
    }
    return result;
}

} // namespace halftone::passes
