#include "core/tensor/shape.h"

#include "core/base/checked_math.h"

#include <algorithm>

namespace halftone::tensor {

bool Shape::isComplete() const
{
    return m_hasRank && std::ranges::all_of(m_dims, [](std::int64_t dim) { return dim >= 0; });
}

std::optional<std::int64_t> Shape::elementCount() const
{
    if (!isComplete())
        return std::nullopt;
    std::int64_t count = 1;
    for (const std::int64_t dim : m_dims) {
        const auto product = checkedMultiply(count, dim);
        if (!product)
            return std::nullopt;
        count = *product;
    }
    return count;
}

std::string Shape::toString() const
{
    if (!m_hasRank)
        return "?";
    std::string text = "(";
    for (std::size_t i = 0; i < m_dims.size(); ++i)
        text += (i == 0 ? "" : ", ") + (m_dims[i] < 0 ? std::string("?") : std::to_string(m_dims[i]));
    return text + (m_dims.size() == 1 ? ",)" : ")");
}

} // namespace halftone::tensor
