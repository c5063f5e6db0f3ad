#pragma once

#include "core/tensor/dtype.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::hardware {

/// The units of a chip that an operator may need, coarse enough for vendors' documents to speak of all of them.
enum class Unit : std::uint8_t
{
    Conv, ///< convolutions, transposed and deformable ones too
    Gemm, ///< matrix products, recurrences, attention
    Elementwise, ///< arithmetic, activations, comparisons, selection
    Reduction, ///< sums and extrema along axes, pooling, order
    Normalization,
    Softmax, ///< with exponentials, logarithms, powers and error functions
    Movement, ///< whatever only moves values
};
inline constexpr std::size_t kUnits = 7;
inline constexpr std::array<Unit, kUnits> kAllUnits{Unit::Conv,      Unit::Gemm,          Unit::Elementwise,
                                                    Unit::Reduction, Unit::Normalization, Unit::Softmax,
                                                    Unit::Movement};

/// The types that descriptions speak of.
enum class Number : std::uint8_t
{
    Fp32,
    Fp16,
    Bf16,
    Int8,
    Fp8, ///< e4m3fn and e5m2
};
inline constexpr std::size_t kNumbers = 5;
inline constexpr std::array<Number, kNumbers> kAllNumbers{Number::Fp32, Number::Fp16, Number::Bf16,
                                                          Number::Int8, Number::Fp8};

/// What a unit does with a type.
enum class Support : std::uint8_t
{
    No, ///< must not be used
    Emulated, ///< works, through conversions
    Storage, ///< values may be kept in it, arithmetic is float32: saves memory traffic alone
    Native, ///< arithmetic in that type
};

/// Convolutions and matrix products: the matrix units.
constexpr bool isProduct(Unit unit)
{
    return unit == Unit::Conv || unit == Unit::Gemm;
}

std::string_view nameOf(Unit unit); ///< "conv", "gemm", …
std::string_view nameOf(Number number); ///< "fp32", "fp16", …
std::string_view nameOf(Support support); ///< "native", "storage", "emulated", "no"
std::optional<Unit> unitNamed(std::string_view name);
std::optional<Number> numberNamed(std::string_view name);
std::optional<Support> supportNamed(std::string_view name);
/// Nothing for a type that descriptions don't speak of.
std::optional<Number> numberOf(tensor::DType type);

/// What one unit does with one type.
struct Ability
{
    Support support = Support::No;
    double rate = 0; ///< dense peak against float32 on the same unit; of Storage: bytes saved against float32
    std::vector<tensor::DType> accumulate; ///< types of the accumulator, best first; not empty but for No

    bool operator==(const Ability &) const = default;
};

/// How a description recognises the machine at hand; all empty: never.
struct Detection
{
    std::vector<std::string> cpuFlags; ///< all there, named as in /proc/cpuinfo
    std::vector<std::string> without; ///< all absent
    std::string cuda; ///< compute capability, "8.0"

    bool isNever() const { return cpuFlags.empty() && cuda.empty(); }
    bool operator==(const Detection &) const = default;
};

struct Source
{
    std::string fact;
    std::string document;

    bool operator==(const Source &) const = default;
};

/// How fast a machine was found to be, against its own float32.
struct Measurement
{
    std::string machine; ///< what was measured: the processor's name
    std::string when; ///< "2026-11-24"
    /// By unit and number: how many times as fast as float32; nothing: not measured.
    std::array<std::array<std::optional<double>, kNumbers>, kUnits> speed{};

    std::optional<double> &of(Unit unit, Number number)
    {
        return speed[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
    }
    const std::optional<double> &of(Unit unit, Number number) const
    {
        return speed[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
    }

    bool operator==(const Measurement &) const = default;
};

/// A chip, as far as choosing types needs it (resources/hardware/README.md has the keys of its file).
struct Description
{
    std::string name;
    std::string title;
    std::string kind; ///< "cpu", "gpu" or "npu"
    Detection detect;
    std::optional<double>
        gigaflops; ///< peak in float32, 10^9 operations a second; nothing: depends on the model
    std::optional<double> bandwidth; ///< of memory, GB a second; nothing: depends on the board
    bool fusesCasts = false; ///< a cast at an input or output of a product costs nothing
    std::string standaloneCast; ///< what a cast costs that stands alone, in words
    std::string note;
    std::array<std::array<Ability, kNumbers>, kUnits> abilities{};
    std::vector<Source> sources;
    std::optional<Measurement> measurement; ///< of one machine of the kind

    const Ability &ability(Unit unit, Number number) const
    {
        return abilities[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
    }
    /// Support::No for a type that descriptions don't speak of.
    Support support(Unit unit, tensor::DType type) const;
    /// The best accumulator; Unknown where the type must not be used.
    tensor::DType accumulator(Unit unit, tensor::DType type) const;
    /// How many times as fast as float32 the unit's arithmetic is by the description; 1 where the type is only kept, or must not be used.
    double rate(Unit unit, tensor::DType type) const;
    /// How many times as fast as float32 the unit was found to be; nothing where it was not measured.
    std::optional<double> measuredSpeed(Unit unit, tensor::DType type) const;
    /// Is a convolution or a product native in the type?
    bool hasFastPath(Number number) const;
    bool hasFastPath(tensor::DType type) const;

    bool operator==(const Description &) const = default;
};

} // namespace halftone::hardware
