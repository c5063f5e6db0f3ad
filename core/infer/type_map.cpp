#include "core/infer/type_map.h"

namespace halftone::infer {

void TypeMap::reserve(std::size_t nodes)
{
    m_first.reserve(nodes + 1);
    m_types.reserve(nodes + nodes / 4);
}

void TypeMap::append(std::span<const tensor::DType> outputs)
{
    m_types.insert(m_types.end(), outputs.begin(), outputs.end());
    m_first.push_back(static_cast<std::uint32_t>(m_types.size()));
}

tensor::DType TypeMap::at(graph::NodeId node, std::uint32_t output) const
{
    const std::uint32_t first = m_first[node];
    return output < m_first[node + 1] - first ? m_types[first + output] : tensor::DType::Unknown;
}

std::span<const tensor::DType> TypeMap::outputs(graph::NodeId node) const
{
    return std::span(m_types).subspan(m_first[node], m_first[node + 1] - m_first[node]);
}

std::span<tensor::DType> TypeMap::outputs(graph::NodeId node)
{
    return std::span(m_types).subspan(m_first[node], m_first[node + 1] - m_first[node]);
}

} // namespace halftone::infer
