#pragma once

#include "core/graph/graph.h"
#include "core/rewrite/conversion.h"
#include "core/tensor/tensor.h"

#include <optional>
#include <span>
#include <vector>

/// Small positive constants that keep a value away from 0, the epsilons: as 0 they would let the division behind them give NaN
/// (core/mixed/RULES.md, M-bounds).
namespace halftone::mixed {

/// By NodeId: a variable or a constant that some operator, also of a body, reads as a lower bound, a summand, a divisor or in the place
/// of a value.
std::vector<bool> findBounds(const graph::Graph &graph);

/// The bounds of a graph, raised above zero where a type would make them 0. They are found when first needed, which is seldom.
class HeldBounds
{
public:
    /// isOn  false: none is raised
    explicit HeldBounds(const graph::Graph &source, bool isOn = true)
        : m_source(source)
        , m_isOn(isOn)
    {
    }

    /// tensor::heldAboveZero() of the values of a variable or constant; nothing where it is no bound.
    std::optional<tensor::Tensor> held(graph::NodeId node, const tensor::Tensor &values, tensor::DType to,
                                       tensor::DType stored);

private:
    const graph::Graph &m_source;
    bool m_isOn;
    std::vector<bool> m_isBound; ///< by NodeId
};

/// By NodeId: the 16-bit type that a cast makes of a variable or constant, also in a body that is handed it; Unknown: none does.
std::vector<tensor::DType> narrowedTypes(const graph::Graph &source, const rewrite::Conversion &conversion);

/// The same of what the converted bodies of a graph are handed, added to `types`.
void addNarrowedInBodies(const graph::Graph &source, std::span<const rewrite::ConvertedBody> bodies,
                         std::vector<tensor::DType> &types);

} // namespace halftone::mixed
