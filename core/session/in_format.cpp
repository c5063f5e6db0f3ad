#include "core/session/in_format.h"

#include "core/dialect/dialect.h"
#include "core/infer/stored_types.h"
#include "core/rewrite/inline_fused.h"
#include "core/translate/to_onnx.h"

namespace halftone::session {

Result<graph::Model> inFormatOf(const io::ModelOutput &output, const graph::Model &model,
                                const infer::KnownShapes &shapes,
                                const std::map<std::string, tensor::DType> &types)
{
    if (!output.isOnnx() || dialect::of(model.graph).name() == "onnx")
        return model;
    graph::Model inlined = model;
    inlined.graph = rewrite::inlineFused(model.graph);
    return translate::toOnnx(inlined, {shapes, {types.begin(), types.end()}});
}

std::vector<tensor::DType> writtenTypes(const io::ModelOutput &output, const graph::Model &model)
{
    if (!output.isOnnx())
        return {};
    const auto types = infer::storedTypes(model);
    if (!types.ok())
        return {};
    std::vector<tensor::DType> heads;
    heads.reserve(model.graph.heads().size());
    for (const graph::Entry &head : model.graph.heads())
        heads.push_back(types.value().of(head));
    return heads;
}

} // namespace halftone::session
