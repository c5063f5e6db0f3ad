#include "core/tensor/elements.h"

#include "core/tensor/analysis_formats.h"
#include "core/tensor/bfloat16.h"
#include "core/tensor/float16.h"
#include "core/tensor/half_loops.h"
#include "core/tensor/low_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace halftone::tensor {
namespace {

using tensor::DType;

/// Calls `use` with a value of the C++ type that stores elements of an integer type, bool, float32 or float64.
template <class Use>
void withStored(DType type, const Use &use)
{
    switch (type) {
    case DType::F32:
        return use(float{});
    case DType::F64:
        return use(double{});
    case DType::I8:
    case DType::I4:
    case DType::I2:
        return use(std::int8_t{});
    case DType::U8:
    case DType::U4:
    case DType::U2:
        return use(std::uint8_t{});
    case DType::I16:
        return use(std::int16_t{});
    case DType::U16:
        return use(std::uint16_t{});
    case DType::I32:
        return use(std::int32_t{});
    case DType::U32:
        return use(std::uint32_t{});
    case DType::I64:
        return use(std::int64_t{});
    case DType::U64:
        return use(std::uint64_t{});
    case DType::Bool:
        return use(std::uint8_t{});
    default: // floats of 16 bits and less, which have loops of their own
        break;
    }
}

constexpr bool isInteger(DType type)
{
    return type != DType::Unknown && !tensor::isFloat(type);
}

/// Kernels' buffers are aligned, callers' need not be.
template <class T>
T load(const std::byte *elements, std::size_t i)
{
    T value{};
    std::memcpy(&value, elements + i * sizeof(T), sizeof(T));
    return value;
}

template <class T>
void store(std::byte *elements, std::size_t i, T value)
{
    std::memcpy(elements + i * sizeof(T), &value, sizeof(T));
}

template <class Real>
std::int64_t cut(Real value)
{
    constexpr Real kEnd = 9223372036854775808.0;
    return value >= -kEnd && value < kEnd ? static_cast<std::int64_t>(value)
                                          : std::numeric_limits<std::int64_t>::min();
}

/// As processors cut a real number to `To`: what does not fit is the smallest number; those below 32 bits are cut to
/// int32 first and keep its low bits.
template <class To, class Real>
To cutTo(Real value)
{
    if constexpr (sizeof(To) == sizeof(std::int64_t) || std::is_same_v<To, std::uint32_t>) {
        return static_cast<To>(cut(value));
    } else {
        constexpr Real kEnd = 2147483648.0;
        return static_cast<To>(value >= -kEnd && value < kEnd ? static_cast<std::int32_t>(value)
                                                              : std::numeric_limits<std::int32_t>::min());
    }
}

template <class Real>
std::uint16_t toHalf(Real value, DType type)
{
    if constexpr (std::is_same_v<Real, float>)
        return type == DType::F16 ? tensor::float16FromFloat(value) : tensor::bfloat16FromFloat(value);
    else
        return type == DType::F16 ? tensor::narrowDouble<tensor::Float16>(value)
                                  : tensor::narrowDouble<tensor::BFloat16>(value);
}

/// With its sign: int8 is a number, not a character.
template <class T>
std::int64_t integerAt(const std::byte *elements, std::size_t i)
{
    return static_cast<std::int64_t>(load<T>(elements, i)); // NOLINT(bugprone-signed-char-misuse)
}

std::int64_t loadInteger(DType type, const std::byte *elements, std::size_t i)
{
    std::int64_t value = 0;
    withStored(type, [&](auto stored) { value = integerAt<decltype(stored)>(elements, i); });
    return value;
}

/// Elements of int8 and uint8 that are to be of fewer bits keep the low ones.
void keepLowBits(DType type, std::byte *elements, std::size_t count)
{
    if (packedBits(type) > 0)
        std::transform(elements, elements + count, elements,
                       [type](std::byte element) { return lowBits(type, element); });
}

template <class To>
void storeIntegers(DType from, const std::byte *elements, std::size_t count, DType to, std::byte *out)
{
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t value = loadInteger(from, elements, i);
        if constexpr (std::is_floating_point_v<To>)
            store(out, i,
                  from == DType::U64 ? static_cast<To>(load<std::uint64_t>(elements, i))
                                     : static_cast<To>(value));
        else
            store(out, i, to == DType::Bool ? static_cast<To>(value != 0) : static_cast<To>(value));
    }
    keepLowBits(to, out, count);
}

} // namespace

template <class Real>
void widen(DType type, const std::byte *elements, std::size_t count, Real *out)
{
    if constexpr (std::is_same_v<Real, float>) {
        if (tensor::isHalf(type))
            return widenHalves(type, elements, count, out);
    }
    if (isCoded(type))
        return widenAnalysed(type, elements, count, out);
    if (type == DType::F16) {
        for (std::size_t i = 0; i < count; ++i)
            out[i] = static_cast<Real>(tensor::floatFromFloat16(load<std::uint16_t>(elements, i)));
    } else if (type == DType::BF16) {
        for (std::size_t i = 0; i < count; ++i)
            out[i] = static_cast<Real>(tensor::floatFromBfloat16(load<std::uint16_t>(elements, i)));
    } else {
        withStored(type, [&](auto stored) {
            for (std::size_t i = 0; i < count; ++i)
                out[i] = static_cast<Real>(load<decltype(stored)>(elements, i));
        });
    }
}

template <class Real>
void narrow(const Real *values, std::size_t count, DType type, std::byte *elements)
{
    if constexpr (std::is_same_v<Real, float>) {
        if (tensor::isHalf(type))
            return narrowToHalves(values, count, type, elements);
    }
    if (isCoded(type))
        return narrowAnalysed(values, count, type, elements);
    if (tensor::isHalf(type)) {
        for (std::size_t i = 0; i < count; ++i)
            store(elements, i, toHalf(values[i], type));
        return;
    }
    withStored(type, [&](auto stored) {
        using To = decltype(stored);
        for (std::size_t i = 0; i < count; ++i) {
            if constexpr (std::is_floating_point_v<To>)
                store(elements, i, static_cast<To>(values[i]));
            else
                store(elements, i,
                      type == DType::Bool ? static_cast<To>(values[i] != 0) : cutTo<To>(values[i]));
        }
    });
    keepLowBits(type, elements, count);
}

void convert(DType from, const std::byte *elements, std::size_t count, DType to, std::byte *out)
{
    if (count == 0) // arrays of nothing may lie nowhere, which memcpy does not allow
        return;
    if (from == to) {
        std::memcpy(out, elements, count * tensor::sizeOf(from));
        return;
    }
    if (isInteger(from) && !tensor::isHalf(to) && !isCoded(to)) {
        withStored(to, [&](auto stored) { storeIntegers<decltype(stored)>(from, elements, count, to, out); });
        return;
    }
    // float32 holds the narrow types, double everything else that is left: one rounding at the end.
    const bool narrowSource = fitsFloat32(from);
    constexpr std::size_t kBlock = 1024;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t part = std::min(kBlock, count - begin);
        const std::byte *source = elements + begin * tensor::sizeOf(from);
        std::byte *target = out + begin * tensor::sizeOf(to);
        if (narrowSource) {
            float block[kBlock];
            widen(from, source, part, block);
            narrow(block, part, to, target);
        } else {
            double block[kBlock];
            widen(from, source, part, block);
            narrow(block, part, to, target);
        }
    }
}

double heldIn(DType type, double value)
{
    alignas(double) std::byte element[sizeof(double)];
    narrow(&value, 1, type, element);
    widen(type, element, 1, &value);
    return value;
}

double saturated(DType type, double value)
{
    const double largest = rangeOf(type).largest;
    return std::isnan(value) ? value : std::clamp(value, -largest, largest);
}

std::vector<std::int64_t> integers(DType type, const std::byte *elements, std::size_t count)
{
    std::vector<std::int64_t> values(count);
    if (isInteger(type)) {
        withStored(type, [&](auto stored) { // which is asked once: models hold long lists of places
            for (std::size_t i = 0; i < count; ++i)
                values[i] = integerAt<decltype(stored)>(elements, i);
        });
        return values;
    }
    std::vector<double> wide(count);
    widen(type, elements, count, wide.data());
    for (std::size_t i = 0; i < count; ++i)
        values[i] = cut(wide[i]);
    return values;
}

template void widen(DType, const std::byte *, std::size_t, float *);
template void widen(DType, const std::byte *, std::size_t, double *);
template void narrow(const float *, std::size_t, DType, std::byte *);
template void narrow(const double *, std::size_t, DType, std::byte *);

} // namespace halftone::tensor
