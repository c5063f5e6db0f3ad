#include "core/session/in_format.h"

#include "core/infer/stored_types.h"
#include "core/rewrite/inline_calls.h"
#include "core/rewrite/inline_fused.h"
#include "core/translate/translation.h"

namespace halftone::session {

Result<graph::Model> inFormatOf(const io::ModelOutput &output, const graph::Model &model,
                                const infer::KnownShapes &shapes,
                                const std::map<std::string, tensor::DType> &types)
{
    const translate::Translation translation = io::formatOf(model.graph) == &output.format()
        ? nullptr
        : translate::translationTo(output.format().name);
    if (translation == nullptr)
        return model; // saveModel() refuses one of another format
    HALFTONE_TRY(rewrite::Rewritten inlined, rewrite::inlineCalls(model, {}));
    inlined.model.graph = rewrite::inlineFused(inlined.model.graph);
    return translation(inlined.model, {shapes, {types.begin(), types.end()}});
}

std::vector<const io::ModelFormat *> formatsFor(const graph::Graph &graph)
{
    const io::ModelFormat *const own = io::formatOf(graph);
    std::vector<const io::ModelFormat *> formats;
    if (own != nullptr)
        formats.push_back(own);
    for (const io::ModelFormat *const format : io::formats()) {
        if (format != own && translate::translationTo(format->name) != nullptr)
            formats.push_back(format);
    }
    return formats;
}

std::vector<tensor::DType> writtenTypes(const io::ModelFormat &format, const graph::Model &model)
{
    if (!format.declaresOutputTypes)
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
