#include "core/passes/mark_parameters.h"

#include "core/dialect/mxnet/dtype_code.h"
#include "core/passes/infer_types.h"

namespace halftone::passes {

using graph::NodeId;
using tensor::DType;

graph::NodeDefPtr markedAs(const graph::NodeDefPtr &variable, DType type)
{
    const std::string *written = variable->attributes.find("__dtype__");
    std::string code = std::to_string(dialect::mxnet::codeOf(type));
    if (written != nullptr && *written == code)
        return variable;
    auto def = std::make_shared<graph::NodeDef>(*variable);
    def->attributes.set("__dtype__", std::move(code));
    return def;
}

void markParameters(const graph::Graph &source, const ParameterStorage &storage, Conversion &conversion)
{
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        const NodeId copy = conversion.fromSource[id];
        if (copy == kNoNode || !source.isVariable(id) || !storage.isParameter(id))
            continue;
        conversion.graph.redefine(copy, markedAs(source.sharedNode(id), storage.typeOf(id)));
    }
}

void listStoredParameters(const graph::Graph &source, std::span<const Variable> variables,
                          const ParameterStorage &storage, Conversion &conversion)
{
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) && storage.isParameter(id) && storage.typeOf(id) != variables[id].type)
            conversion.parameters.push_back({id, variables[id].type, storage.typeOf(id)});
    }
}

Result<void> retype(const graph::Graph &source, const ParameterStorage &storage, Conversion &conversion)
{
    std::vector<DType> types(conversion.graph.nodeCount(), DType::Unknown);
    for (NodeId id = 0; id < source.nodeCount(); ++id) {
        if (source.isVariable(id) && conversion.fromSource[id] != kNoNode)
            types[conversion.fromSource[id]] = storage.typeOf(id);
    }
    HALFTONE_TRY(conversion.types, inferTypes(conversion.graph, types));
    return {};
}

} // namespace halftone::passes
