#include "core/hardware/description.h"

#include <algorithm>
#include <functional>
#include <iterator>

namespace halftone::hardware {
namespace {

constexpr std::array<std::string_view, kUnits> kUnitNames{
    "conv", "gemm", "elementwise", "reduction", "normalization", "softmax", "movement"};
constexpr std::array<std::string_view, kNumbers> kNumberNames{"fp32", "fp16", "bf16", "int8", "fp8"};
constexpr std::array<std::string_view, 4> kSupportNames{"no", "emulated", "storage", "native"};

template <class T, std::size_t N>
std::optional<T> named(const std::array<std::string_view, N> &names, std::string_view name)
{
    const auto at = std::ranges::find(names, name);
    if (at == names.end())
        return std::nullopt;
    return static_cast<T>(std::distance(names.begin(), at));
}

} // namespace

std::string_view nameOf(Unit unit)
{
    return kUnitNames[static_cast<std::size_t>(unit)];
}

std::string_view nameOf(Number number)
{
    return kNumberNames[static_cast<std::size_t>(number)];
}

std::string_view nameOf(Support support)
{
    return kSupportNames[static_cast<std::size_t>(support)];
}

std::optional<Unit> unitNamed(std::string_view name)
{
    return named<Unit>(kUnitNames, name);
}

std::optional<Number> numberNamed(std::string_view name)
{
    return named<Number>(kNumberNames, name);
}

std::optional<Support> supportNamed(std::string_view name)
{
    return named<Support>(kSupportNames, name);
}

std::optional<Number> numberOf(tensor::DType type)
{
    switch (type) {
    case tensor::DType::F32:
        return Number::Fp32;
    case tensor::DType::F16:
        return Number::Fp16;
    case tensor::DType::BF16:
        return Number::Bf16;
    case tensor::DType::I8:
    case tensor::DType::U8:
        return Number::Int8;
    default:
        return std::nullopt;
    }
}

Support Description::support(Unit unit, tensor::DType type) const
{
    const auto number = numberOf(type);
    return number ? ability(unit, *number).support : Support::No;
}

tensor::DType Description::accumulator(Unit unit, tensor::DType type) const
{
    const auto number = numberOf(type);
    if (!number || ability(unit, *number).accumulate.empty())
        return tensor::DType::Unknown;
    return ability(unit, *number).accumulate.front();
}

double Description::rate(Unit unit, tensor::DType type) const
{
    const Support support = this->support(unit, type);
    return support == Support::Native || support == Support::Emulated ? ability(unit, *numberOf(type)).rate
                                                                      : 1;
}

std::optional<double> Description::measuredSpeed(Unit unit, tensor::DType type) const
{
    const auto number = numberOf(type);
    if (!measurement || !number)
        return std::nullopt;
    return measurement->of(unit, *number);
}

bool Description::hasFastPath(Number number) const
{
    return ability(Unit::Conv, number).support == Support::Native
        || ability(Unit::Gemm, number).support == Support::Native;
}

bool Description::hasFastPath(tensor::DType type) const
{
    const auto number = numberOf(type);
    return number && hasFastPath(*number);
}

std::vector<Number> Description::fastNumbers() const
{
    // As many times as fast as float32 in the better of both units: by measurement where either was measured.
    const auto speedOf = [this](Number number) {
        std::optional<double> found;
        double rate = 0;
        for (const Unit unit : {Unit::Conv, Unit::Gemm}) {
            const Ability &one = ability(unit, number);
            if (measurement && measurement->of(unit, number))
                found = std::max(found.value_or(0), *measurement->of(unit, number));
            if (one.support == Support::Native)
                rate = std::max(rate, one.rate);
        }
        return found.value_or(rate);
    };
    std::vector<Number> fast;
    for (const Number number : kAllNumbers) {
        if (number != Number::Fp32 && hasFastPath(number) && speedOf(number) > 1)
            fast.push_back(number);
    }
    std::ranges::stable_sort(fast, std::greater<>(), speedOf);
    return fast;
}

} // namespace halftone::hardware
