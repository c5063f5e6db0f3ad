#pragma once

#include "core/backends/reference/arrays.h"

#include <cstdint>
#include <vector>

namespace halftone::backends::reference {

/// Distances in elements between neighbours on each axis of a dense tensor.
inline std::vector<std::int64_t> denseStrides(DimSpan dims)
{
    std::vector<std::int64_t> strides(dims.size());
    std::int64_t stride = 1;
    for (std::size_t axis = dims.size(); axis-- > 0; stride *= dims[axis])
        strides[axis] = stride;
    return strides;
}

/// Strides with which a tensor of shape `dims` is read as one of shape `to`: 0 along axes that stretch, missing leading
/// axes stretch too.
inline std::vector<std::int64_t> stretchedStrides(DimSpan dims, DimSpan to)
{
    const std::vector<std::int64_t> own = denseStrides(dims);
    std::vector<std::int64_t> strides(to.size(), 0);
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
        if (dims[axis] != 1)
            strides[to.size() - dims.size() + axis] = own[axis];
    }
    return strides;
}

/// Walks a shape row by row (a row: the last axis) and keeps the offset that each of several sets of strides gives the
/// row's start.
class RowWalk
{
public:
    RowWalk(DimSpan dims, std::vector<std::vector<std::int64_t>> strides)
        : m_dims(dims)
        , m_strides(std::move(strides))
        , m_position(dims.size())
        , m_offsets(m_strides.size())
    {
    }

    std::size_t rowLength() const { return m_dims.empty() ? 1 : static_cast<std::size_t>(m_dims.back()); }
    std::size_t rowCount() const { return m_dims.empty() ? 1 : extent(m_dims, 0, m_dims.size() - 1); }
    std::int64_t offset(std::size_t which) const { return m_offsets[which]; }
    /// Between neighbours of a row.
    std::int64_t step(std::size_t which) const { return m_dims.empty() ? 0 : m_strides[which].back(); }

    void next()
    {
        if (m_dims.empty())
            return;
        for (std::size_t axis = m_dims.size() - 1; axis-- > 0;) {
            const bool carries = ++m_position[axis] == m_dims[axis];
            const std::int64_t moved = carries ? 1 - m_dims[axis] : 1;
            for (std::size_t i = 0; i < m_strides.size(); ++i)
                m_offsets[i] += moved * m_strides[i][axis];
            if (!carries)
                return;
            m_position[axis] = 0;
        }
    }

private:
    DimSpan m_dims;
    std::vector<std::vector<std::int64_t>> m_strides;
    std::vector<std::int64_t> m_position;
    std::vector<std::int64_t> m_offsets;
};

/// A tensor seen as (outer, axis, inner).
struct AxisView
{
    std::size_t outer = 1;
    std::size_t length = 1;
    std::size_t inner = 1;

    AxisView(DimSpan dims, std::size_t axis)
        : outer(extent(dims, 0, axis))
        , length(static_cast<std::size_t>(dims[axis]))
        , inner(extent(dims, axis + 1, dims.size()))
    {
    }
    /// The whole tensor as one vector.
    explicit AxisView(std::size_t elements)
        : length(elements)
    {
    }

    std::size_t lines() const { return outer * inner; }
    /// Where line `i` begins; its elements lie `inner` apart.
    std::size_t begin(std::size_t i) const { return i / inner * length * inner + i % inner; }
};

} // namespace halftone::backends::reference
