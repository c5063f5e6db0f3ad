#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halftone::tensor {

/// The shape of a tensor. The rank or single dimensions may be unknown. Rank 0 is a scalar with one element.
class Shape
{
public:
    static constexpr std::int64_t kUnknown = -1;

    Shape() = default; ///< unknown rank
    Shape(std::initializer_list<std::int64_t> dims)
        : m_dims(dims)
        , m_hasRank(true)
    {
    }
    explicit Shape(std::vector<std::int64_t> dims)
        : m_dims(std::move(dims))
        , m_hasRank(true)
    {
    }
    static Shape ofRank(std::size_t rank) { return Shape(std::vector<std::int64_t>(rank, kUnknown)); }

    bool hasRank() const { return m_hasRank; }
    std::size_t rank() const { return m_dims.size(); }
    std::int64_t operator[](std::size_t axis) const { return m_dims[axis]; }
    std::int64_t &operator[](std::size_t axis) { return m_dims[axis]; }
    std::span<const std::int64_t> dims() const { return m_dims; }
    bool isComplete() const; ///< rank and every dimension known

    /// Product of the dimensions; absent if the shape is incomplete or the product exceeds 2^63 - 1.
    std::optional<std::int64_t> elementCount() const;

    /// "(1, 3, ?, 224)", "?" for an unknown rank.
    std::string toString() const;

    bool operator==(const Shape &) const = default;

private:
    std::vector<std::int64_t> m_dims;
    bool m_hasRank = false;
};

} // namespace halftone::tensor
