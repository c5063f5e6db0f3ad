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

/// The units of a chip that an operator may need, as coarse as vendors' documentation allows.
enum class Unit : std::uint8_t
{
    Conv, ///< convolutions, including transposed and deformable ones
    Gemm, ///< matrix products, recurrences, attention
    Elementwise, ///< arithmetic, activations, comparisons, selection
    Reduction, ///< sums and extrema along axes, pooling, sorting
    Normalization,
    Softmax, ///< softmax, and exponentials, logarithms, powers and error functions
    Movement, ///< operators that only move values
};
inline constexpr std::size_t kUnits = 7;
inline constexpr std::array<Unit, kUnits> kAllUnits{Unit::Conv,      Unit::Gemm,          Unit::Elementwise,
                                                    Unit::Reduction, Unit::Normalization, Unit::Softmax,
                                                    Unit::Movement};

/// The types covered by descriptions.
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
    Emulated, ///< supported through conversions
    Storage, ///< values may be stored in it, arithmetic is float32: only saves memory traffic
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
/// Absent for a type that descriptions do not cover.
std::optional<Number> numberOf(tensor::DType type);

/// What one unit does with one type.
struct Ability
{
    Support support = Support::No;
    double rate
        = 0; ///< dense peak relative to float32 on the same unit; for Storage: bytes saved relative to float32
    std::vector<tensor::DType> accumulate; ///< accumulator types, best first; empty only for No

    bool operator==(const Ability &) const = default;
};

/// How a description recognises this machine; all empty: never.
struct Detection
{
    std::vector<std::string> cpuFlags; ///< all must be present; names as in /proc/cpuinfo
    std::vector<std::string> without; ///< all must be absent
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

/// Measured speed of a machine relative to its own float32.
struct Measurement
{
    std::string machine; ///< name of the measured processor
    std::string when; ///< "2026-11-24"
    /// By unit and type: speed as a multiple of float32; absent: not measured.
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

/// What type selection needs to know about a chip (keys of the file: resources/hardware/README.md).
struct Description
{
    std::string name;
    std::string title;
    std::string kind; ///< "cpu", "gpu" or "npu"
    Detection detect;
    std::optional<double>
        gigaflops; ///< peak in float32, 10^9 operations per second; absent: depends on the model
    std::optional<double> bandwidth; ///< of memory, GB per second; absent: depends on the board
    bool fusesCasts = false; ///< casts at inputs and outputs of products are free
    std::string standaloneCast; ///< cost of a separate cast, in words
    std::string note;
    std::array<std::array<Ability, kNumbers>, kUnits> abilities{};
    std::vector<Source> sources;
    std::optional<Measurement> measurement; ///< of one machine with this chip

    const Ability &ability(Unit unit, Number number) const
    {
        return abilities[static_cast<std::size_t>(unit)][static_cast<std::size_t>(number)];
    }
    /// Support::No for a type that descriptions do not cover.
    Support support(Unit unit, tensor::DType type) const;
    /// The best accumulator; Unknown if the type must not be used.
    tensor::DType accumulator(Unit unit, tensor::DType type) const;
    /// Speed of the unit as a multiple of float32, by the description; 1 if the type is only stored or must not be used.
    double rate(Unit unit, tensor::DType type) const;
    /// Measured speed of the unit as a multiple of float32; absent if not measured.
    std::optional<double> measuredSpeed(Unit unit, tensor::DType type) const;
    /// Are convolutions or products native in the type?
    bool hasFastPath(Number number) const;
    bool hasFastPath(tensor::DType type) const;
    /// The narrow types in which convolutions or products are faster than in float32, fastest first: of those with a fast path, by the
    /// measured speeds, else by the rates.
    std::vector<Number> fastNumbers() const;

    bool operator==(const Description &) const = default;
};

} // namespace halftone::hardware
