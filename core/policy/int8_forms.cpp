#include "core/policy/int8_forms.h"

#include <algorithm>
#include <array>

namespace halftone::policy {
namespace {

using namespace std::string_view_literals;

constexpr std::array kOperators{"Convolution"sv,  "FullyConnected"sv, "Pooling"sv,   "Activation"sv,
                                "Concat"sv,       "BatchNorm"sv,      "Embedding"sv, "Flatten"sv,
                                "elemwise_add"sv, "elemwise_mul"sv};

} // namespace

std::span<const std::string_view> int8Operators()
{
    return kOperators;
}

bool hasInt8Form(std::string_view op)
{
    return std::ranges::find(kOperators, op) != kOperators.end();
}

} // namespace halftone::policy
