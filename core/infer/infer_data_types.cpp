#include "core/infer/infer_data_types.h"

#include "core/infer/infer_types.h"

#include <optional>
#include <vector>

namespace halftone::infer {
namespace {

using tensor::DType;

bool isOpen(const Result<TypeMap> &found, graph::NodeId variable)
{
    return !found.ok() || found.value().of({variable, 0, 0}) == DType::Unknown;
}

} // namespace

Result<TypeMap> inferDataTypes(const graph::Graph &graph, std::span<const graph::NodeId> data,
                               std::span<const DType> variables)
{
    auto found = inferTypes(graph, variables);
    std::optional<Error> error;
    for (const DType type : {DType::F32, DType::F16, DType::BF16}) {
        std::vector<DType> tried(variables.begin(), variables.end());
        auto outcome = found;
        for (const graph::NodeId id : data) {
            if (!isOpen(outcome, id))
                continue;
            tried[id] = type;
            outcome = inferTypes(graph, tried);
        }
        if (outcome.ok())
            return outcome;
        if (!error)
            error = std::move(outcome).error();
    }
    return found.ok() ? *error : std::move(found).error();
}

} // namespace halftone::infer
