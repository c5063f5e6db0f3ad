#include "core/mixed/mark_parameters.h"

#include "core/dialect/dialect.h"
#include "core/infer/infer_types.h"

namespace halftone::mixed {

using graph::NodeId;
using tensor::DType;

void markParameters(const graph::Graph &source, const ParameterStorage &storage,
                    rewrite::Conversion &conversion)
{
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        const NodeId copy = conversion.fromSource[id];
        if (copy == rewrite::kNoNode || !source.isVariable(id) || !storage.isParameter(id))
            continue;
        conversion.graph.redefine(
            copy, dialect::of(source).withDeclaredType(source.sharedNode(id), storage.typeOf(id)));
    }
}

void markOpenParameters(const graph::Graph &source, std::span<const infer::Variable> variables,
                        rewrite::Conversion &conversion)
{
    if (conversion.casts.empty())
        return;
    std::vector<DType> told(conversion.graph.nodeCount(), DType::Unknown);
    std::vector<NodeId> silent;
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        const NodeId copy = conversion.fromSource[id];
        if (copy == rewrite::kNoNode || !source.isVariable(id))
            continue;
        if (variables[id].isData || dialect::of(source).declaresType(conversion.graph.node(copy)))
            told[copy] = conversion.types.of({copy, 0, 0});
        else
            silent.push_back(id);
    }
    const auto types = infer::inferTypes(conversion.graph, told);
    if (!types.ok())
        return;
    for (const NodeId id : silent) {
        const NodeId copy = conversion.fromSource[id];
        const DType stored = conversion.types.of({copy, 0, 0});
        if (types.value().of({copy, 0, 0}) != DType::Unknown || stored == DType::Unknown)
            continue;
        conversion.graph.redefine(
            copy, dialect::of(source).withDeclaredType(conversion.graph.sharedNode(copy), stored));
        conversion.markedParameters.push_back(id);
    }
}

void listStoredParameters(const graph::Graph &source, std::span<const infer::Variable> variables,
                          const ParameterStorage &storage, rewrite::Conversion &conversion)
{
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) && storage.isParameter(id) && storage.typeOf(id) != variables[id].type)
            conversion.parameters.push_back({id, variables[id].type, storage.typeOf(id)});
    }
}

Result<void> retype(const graph::Graph &source, const ParameterStorage &storage,
                    rewrite::Conversion &conversion)
{
    std::vector<DType> types(conversion.graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) && conversion.fromSource[id] != rewrite::kNoNode)
            types[conversion.fromSource[id]] = storage.typeOf(id);
    }
    HALFTONE_TRY(conversion.types, infer::inferTypes(conversion.graph, types));
    return {};
}

} // namespace halftone::mixed
