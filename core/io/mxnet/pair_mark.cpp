#include "core/io/mxnet/pair_mark.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace halftone::io {
namespace {

constexpr std::string_view kKey = "halftone_params";
constexpr std::string_view kStart = R"(["str", "xxh64:)"; ///< as nnvm stores a text

} // namespace

std::string pairMark(const Xxh64 &parameterFile)
{
    std::array<char, 17> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx",
                  static_cast<unsigned long long>(parameterFile.value()));
    return std::string(kStart) + digits.data() + "\"]";
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
