#pragma once

#include "core/patterns/network.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace halftone::patterns {

/// What operators compute together that exporters write out one by one.
enum class UnitKind : std::uint8_t
{
    LayerNorm, ///< (x - mean) / √(variance + ε), with gamma and beta where they follow
    RmsNorm, ///< x / √(mean of x² + ε), with gamma where it follows
    Softmax, ///< e^(x - max) / Σ e^(x - max)
    Gelu, ///< x · (1 + erf(x / √2)) / 2
    GeluTanh, ///< x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) / 2
    Swish, ///< x · sigmoid(α · x); SiLU where α is 1
    HardSwish, ///< x · min(max(x / 6 + 1/2, 0), 1)
    Mish, ///< x · tanh(softplus(x))
    RotaryEmbedding, ///< x · cos + turned(x) · sin, which turns pairs of elements by the angles of a position
    Attention, ///< softmax(q · kᵀ · scale + mask) · v with the products that make q, k and v
    Mlp, ///< product, activation, product, with their biases
    Residual, ///< x + branch(x), where the branch multiplies; x may pass a projection and its normalisation
    TransformerBlock, ///< a Residual around an Attention, the one behind it, and the norms that follow either
};

/// As people call it: "LayerNorm".
std::string_view titleOf(UnitKind kind);

/// Made of units and more, not the form of one operator: an Attention, an Mlp, blocks.
bool isComposite(UnitKind kind);

/// Nodes that belong together.
struct Unit
{
    UnitKind kind = UnitKind::LayerNorm;
    std::vector<NodeIndex> nodes{}; ///< ascending
    ValueIndex output = kNone;
    /// Nothing of what is computed inside is read outside, nor is it an output of the whole, but for `output`.
    bool isClosed = false;
    /// One operator that computes the same of `inputs`; nothing where there is none, or where shapes or axes that must be
    /// known for it are not. To put it in place of the nodes needs isClosed.
    std::optional<ops::Operator> whole{};
    std::vector<ValueIndex> inputs{};
};

/// The units of a network, by their last node, each before the unit that holds it (an Attention holds its Softmax, an Mlp
/// its Gelu); else no two share a node. In time linear in the size of the network, and always the same.
///
/// Casts within are passed over and belong to the unit; constants may be nodes, parameters or fields of operators.
std::vector<Unit> findUnits(const Network &network);

/// The same without the units that hold others: what backends make one operator of.
std::vector<Unit> findInnerUnits(const Network &network);

/// Residual blocks, by their sums; no two share a node. They hold other units, and parts of them. A step costs what the block has of
/// nodes, and ends with a few hundred.
std::vector<Unit> findResiduals(const Network &network);

/// Units of every kind, larger ones behind what they hold: findUnits(), findResiduals() and the blocks of transformers. A residual
/// block may share nodes with an Attention or Mlp that it does not hold whole.
std::vector<Unit> findAllUnits(const Network &network);

} // namespace halftone::patterns
