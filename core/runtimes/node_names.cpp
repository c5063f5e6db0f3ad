#include "core/runtimes/node_names.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"

#include <array>

namespace halftone::runtimes {
namespace {

using graph::NodeId;

/// "a_token_5" without "_token_5".
std::string_view withoutToken(std::string_view name)
{
    constexpr std::string_view kToken = "_token_";
    const std::size_t at = name.rfind(kToken);
    return at != std::string_view::npos && parseInteger(name.substr(at + kToken.size())) ? name.substr(0, at)
                                                                                         : name;
}

std::string_view withoutEnding(std::string_view name, std::string_view ending)
{
    return name.ends_with(ending) ? name.substr(0, name.size() - ending.size()) : name;
}

} // namespace

NodeNames::NodeNames(const graph::Graph &graph)
{
    for (NodeId id = 0; id < graph.nodeCount(); ++id) {
        const graph::NodeDef &def = graph.node(id);
        if (!graph.isVariable(id))
            m_nodes.emplace(def.name, id);
        for (std::uint32_t k = 0; k < std::max<std::size_t>(def.outputs.size(), 1); ++k)
            m_tensors.emplace(dialect::of(graph).entryName(graph, {id, k, 0}), id);
    }
}

std::optional<NodeId> NodeNames::exact(std::string_view name) const
{
    const auto found = m_nodes.find(std::string(name));
    return found == m_nodes.end() ? std::nullopt : std::optional(found->second);
}

std::optional<NodeId> NodeNames::ofTensor(std::string_view name) const
{
    const auto found = m_tensors.find(std::string(name));
    return found == m_tensors.end() ? std::nullopt : std::optional(found->second);
}

std::optional<NamedNode> NodeNames::find(std::string_view name) const
{
    constexpr std::string_view kCast = "InsertedPrecisionFreeCast_";
    if (const auto node = exact(name))
        return NamedNode{*node};
    for (const std::string_view shorter :
         {withoutToken(name), withoutEnding(name, "/WithoutBiases"), withoutEnding(name, "_nchwc")})
        if (const auto node = exact(shorter))
            return NamedNode{*node};
    const bool isFreed = name.starts_with(kCast);
    const std::string_view tensor = isFreed ? name.substr(kCast.size()) : name;
    for (const std::string_view one : {tensor, withoutToken(tensor), withoutEnding(tensor, "_nchwc")})
        if (const auto node = ofTensor(one))
            return NamedNode{*node, isFreed};
    // What several nodes were fused to is often named as one of them and what it is: "encoder/MatMul/MatMulAddFusion".
    const std::size_t slash = name.rfind('/');
    const auto node = slash == std::string_view::npos ? std::nullopt : exact(name.substr(0, slash));
    return node ? std::optional(NamedNode{*node}) : std::nullopt;
}

} // namespace halftone::runtimes
