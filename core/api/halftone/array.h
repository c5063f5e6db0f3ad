#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::api {

/// Element types.
enum class Type : std::uint8_t
{
    Unknown,
    Float32,
    Float64,
    Float16,
    BFloat16,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Bool,
    Float8E4M3FN,
    Float8E5M2,
    TensorFloat32,
    Posit16,
    Int4, ///< this and the following: one value per byte; integers as in Int8 and UInt8, Float4E2M1 as its code
    UInt4,
    Int2,
    UInt2,
    Float4E2M1,
    Float8E8M0, ///< powers of two: scales of blocks
};

std::string_view nameOf(Type type); ///< NumPy's name, e.g. "float16"
Type typeNamed(std::string_view name); ///< Unknown: there is none
std::size_t sizeOf(Type type); ///< bytes per element; 0 for Unknown

using Shape = std::vector<std::int64_t>; ///< -1: unknown length

/// A dense array in row-major order. Copies share the elements.
struct Array
{
    std::string name;
    Type type = Type::Unknown;
    Shape shape;
    std::span<const std::byte> bytes; ///< the elements, of any alignment
    std::shared_ptr<const void> owner; ///< keeps them alive; null: the caller does

    static Array of(std::string name, Shape shape, const std::vector<float> &values);
    std::vector<float> floats() const; ///< the elements of any type as float32
};

} // namespace halftone::api
