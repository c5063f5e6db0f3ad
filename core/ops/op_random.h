#pragma once

#include "core/ops/op_types.h"

#include <cstdint>
#include <optional>
#include <string>

/// Operators that draw random numbers, and densities.
namespace halftone::ops {

enum class Distribution : std::uint8_t
{
    // clang-format off
    Uniform, ///< low, high
    Normal, ///< mean, deviation
    Gamma, ///< alpha, beta
    Exponential, ///< rate
    Poisson, ///< rate
    NegativeBinomial, ///< failures, chance
    GeneralizedNegativeBinomial, ///< mean, dispersion
    Integer, ///< low, high (exclusive)
    Dirichlet, ///< concentrations, a vector
    Bernoulli, ///< chance of a 1
    // clang-format on
};

/// Independent numbers; the parameters are attributes.
struct Random
{
    Distribution distribution = Distribution::Uniform;
    double first = 0; ///< parameters, in the order in which Distribution names them
    double second = 1;
    bool like = false; ///< in the shape of input 0
    std::optional<Dims> shape{}; ///< otherwise; a dimension below 0 is open
    DType dtype = DType::Unknown; ///< Unknown: float32, or int32 of Integer
    std::optional<double> seed{}; ///< nothing: that of the node (kernels::seedOf())

    bool operator==(const Random &) const = default;
};

/// A block of `shape` for every element of the parameters, which are inputs of one shape.
struct RandomSample
{
    Distribution distribution = Distribution::Uniform;
    Dims shape{};
    DType dtype = DType::Unknown;
    std::optional<double> seed{}; ///< as of Random

    bool operator==(const RandomSample &) const = default;
};

/// Classes drawn by the chances along the last axis: a block of `shape` for every row, and if wanted their log-likelihoods.
struct Multinomial
{
    Dims shape{};
    bool logLikelihood = false;
    DType dtype = DType::I32;
    bool ofLogarithms = false; ///< the chances are given as these, up to a constant of the row
    std::optional<double> seed{}; ///< as of Random

    bool operator==(const Multinomial &) const = default;
};

/// Density of samples (input 0) under parameters whose shape is how the samples' begins.
struct Density
{
    Distribution distribution = Distribution::Uniform;
    bool logarithm = false;

    bool operator==(const Density &) const = default;
};

/// Input 0 with its first axis in random order.
struct Shuffle
{
    bool operator==(const Shuffle &) const = default;
};

} // namespace halftone::ops
