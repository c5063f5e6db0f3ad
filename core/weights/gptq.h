#pragma once

#include "core/base/result.h"
#include "core/weights/matrix_codes.h"

#include <cstddef>
#include <vector>

namespace halftone::weights {

/// Codes one input after the other, each error made good by the weights that are still to come (Frantar et al. 2022, GPTQ; W-gptq). For all
/// matrices that read the same values.
class Gptq
{
public:
    /// The largest K: the products of 8192 inputs take 512 MiB.
    static constexpr std::size_t kMostInputs = 8192;

    /// products  Σ xᵀx of what the matrices multiply, inputs · inputs, the lower half; used up
    /// fails     Unsupported for products that no values have (NaN, infinity)
    static Result<Gptq> create(std::vector<double> products, std::size_t inputs, unsigned threads);

    /// EncodeSettings::encode.
    void encode(const BlockCoder &coder, const OutputPanel &panel) const;

private:
    Gptq() = default;
    void encodePanel(const BlockCoder &coder, const OutputPanel &panel, std::size_t first, std::size_t end,
                     std::vector<float> &errors) const;
    const float *row(std::size_t input) const { return m_factor.data() + input * m_inputs; }

    std::size_t m_inputs = 0;
    std::vector<float> m_factor; ///< U, upper, of which UᵀU is the inverse of the damped products
    std::vector<bool> m_isDead; ///< inputs that were always 0
};

} // namespace halftone::weights
