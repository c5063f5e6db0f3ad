#include "core/session/open_model.h"

#include "core/dialect/dialect.h"
#include "core/infer/infer_data_types.h"
#include "core/infer/infer_types.h"

#include <unordered_map>

namespace halftone::session {
namespace {

using tensor::DType;

/// By NodeId: the stored type of each parameter. Data are open.
std::vector<DType> storedTypes(const graph::Model &model)
{
    std::unordered_map<std::string_view, DType> stored;
    for (const tensor::Array &array : model.parameters)
        stored.insert_or_assign(dialect::variableOf(model.graph, array.name), array.values.dtype());
    std::vector<DType> types(model.graph.nodeCount(), DType::Unknown);
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const auto found = model.graph.isVariable(id) ? stored.find(model.graph.node(id).name) : stored.end();
        if (found != stored.end())
            types[id] = found->second;
    }
    return types;
}

bool isNarrowable(DType type)
{
    return type == DType::F32 || tensor::isHalf(type);
}

} // namespace

Result<io::LoadedModel> openModel(const std::string &path, const io::LoadOptions &options)
{
    HALFTONE_TRY(io::LoadedModel loaded, io::loadModel(path, options));
    return withTypesChecked(std::move(loaded));
}

Result<io::LoadedModel> withTypesChecked(io::LoadedModel loaded)
{
    const graph::Graph &graph = loaded.model.graph;
    if (!loaded.model.hasParameters)
        return loaded;
    std::vector<DType> types = storedTypes(loaded.model);
    std::vector<graph::NodeId> data;
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id)
        if (graph.isVariable(id) && types[id] == DType::Unknown)
            data.push_back(id);
    const auto typed = infer::inferDataTypes(graph, data, types);
    if (typed.ok())
        return loaded;
    // Rules may take a type for open data that is not the one that nearly all data have.
    std::vector<DType> fed = types;
    for (const graph::NodeId id : data)
        fed[id] = DType::F32;
    if (infer::inferTypes(graph, fed).ok())
        return loaded;
    for (DType &type : types)
        type = isNarrowable(type) ? DType::Unknown : type;
    if (!infer::inferDataTypes(graph, data, types).ok())
        return loaded;
    Error error = typed.error();
    error.file = loaded.paramsPath;
    error.expected = "the parameters that belong to " + loaded.modelPath;
    return error;
}

} // namespace halftone::session
