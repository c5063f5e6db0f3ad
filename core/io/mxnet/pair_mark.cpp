#include "core/io/mxnet/pair_mark.h"

#include "core/base/hex.h"

#include <string_view>

namespace halftone::io {
namespace {

constexpr std::string_view kKey = "halftone_params";
constexpr std::string_view kStart = R"(["str", "xxh64:)"; ///< as nnvm stores a text

} // namespace

std::string pairMark(const Xxh64 &parameterFile)
{
    return std::string(kStart) + hexDigits(parameterFile.value()) + "\"]";
}

graph::Graph withPairMark(const graph::Graph &graph, const std::optional<std::string> &mark)
{
    graph::Graph marked = graph;
    graph::Attributes metadata = graph.metadata();
    metadata.erase(kKey);
    if (mark)
        metadata.set(kKey, *mark);
    marked.setMetadata(std::move(metadata));
    return marked;
}

std::optional<std::string> takePairMark(graph::Graph &graph)
{
    const std::string *const found = graph.metadata().find(kKey);
    if (found == nullptr)
        return std::nullopt;
    std::optional<std::string> mark;
    if (found->starts_with(kStart))
        mark = *found;
    graph = withPairMark(graph, std::nullopt);
    return mark;
}

} // namespace halftone::io
