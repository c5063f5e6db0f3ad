#pragma once

#include "core/mixed/typed_plan.h"

#include <cstdint>
#include <vector>

namespace halftone::mixed {

/// How many inputs and heads read each tensor in which type.
class ReadCounts
{
public:
    struct Counts
    {
        std::uint32_t fp32 = 0;
        std::uint32_t target = 0;
        std::uint32_t other = 0; ///< the half that is not the target; integers and open types are not counted

        std::uint32_t &of(tensor::DType type, tensor::DType target16)
        {
            return type == tensor::DType::F32 ? fp32 : type == target16 ? target : other;
        }
    };

    ReadCounts(const graph::Graph &source, const TypedPlan &plan, tensor::DType target);

    const Counts &operator[](std::uint32_t output) const { return m_counts[output]; }
    Counts &operator[](std::uint32_t output) { return m_counts[output]; }

private:
    std::vector<Counts> m_counts; ///< by output
};

} // namespace halftone::mixed
