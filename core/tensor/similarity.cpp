#include "core/tensor/similarity.h"

#include "core/tensor/error_metrics.h"

#include <cstddef>

namespace halftone::tensor {

double psnrDb(std::span<const float> reference, std::span<const float> values, double peak)
{
    double squares = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const double d = static_cast<double>(values[i]) - static_cast<double>(reference[i]);
        squares += d * d;
    }
    return decibels(peak * peak * static_cast<double>(reference.size()), squares);
}

double cosineOf(std::span<const float> reference, std::span<const float> values)
{
    double product = 0;
    double r = 0;
    double x = 0;
    for (std::size_t i = 0; i < reference.size(); ++i) {
        const auto a = static_cast<double>(reference[i]);
        const auto b = static_cast<double>(values[i]);
        product += a * b;
        r += a * a;
        x += b * b;
    }
    return cosineOf(product, r, x);
}

} // namespace halftone::tensor
