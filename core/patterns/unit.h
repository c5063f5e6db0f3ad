#pragma once

#include "core/patterns/network.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace halftone::patterns {

/// Functions that exporters write out as several basic operators.
enum class UnitKind : std::uint8_t
{
    LayerNorm, ///< (x - mean) / √(variance + ε), with gamma and beta if present
    RmsNorm, ///< x / √(mean of x² + ε), with gamma if present
    Softmax, ///< e^(x - max) / Σ e^(x - max)
    Gelu, ///< x · (1 + erf(x / √2)) / 2
    GeluTanh, ///< x · (1 + tanh(√(2/π) · (x + 0.044715 · x³))) / 2
    Swish, ///< x · sigmoid(α · x); SiLU if α is 1
    HardSwish, ///< x · min(max(x / 6 + 1/2, 0), 1)
    Mish, ///< x · tanh(softplus(x))
    RotaryEmbedding, ///< x · cos + rotated(x) · sin: rotates pairs of elements by position-dependent angles
    Attention, ///< softmax(q · kᵀ · scale + mask) · v with the products that make q, k and v
    Mlp, ///< product, activation, product, with their biases
    GatedMlp, ///< activation of one product times another one of the same input, then a product
    Residual, ///< x + branch(x), where the branch contains a product; x may pass a projection and its normalisation
    ShapeArithmetic, ///< integers that follow from shapes; nothing here finds it, but the layout folds it (layout/shape_chains.h)
    CodedProduct, ///< a product of codes and what makes reals of it; found by the layout alone (layout/coded_products.h)
    TransformerBlock, ///< a Residual around an Attention, the next Residual, and the norms that follow either
};

/// Display name: "LayerNorm".
std::string_view titleOf(UnitKind kind);

/// Does it contain other units, like an Attention, an Mlp or a block?
bool isComposite(UnitKind kind);

/// Nodes that form one unit.
struct Unit
{
    UnitKind kind = UnitKind::LayerNorm;
    std::vector<NodeIndex> nodes{}; ///< ascending
    ValueIndex output = kNone;
    /// True if no value inside is read outside or is an output of the model, except `output`.
    bool isClosed = false;
    /// One operator that computes the same from `inputs`; absent if there is none, or if the shapes or axes that it needs are
    /// unknown. Replacing the nodes by it requires isClosed.
    std::optional<ops::Operator> whole{};
    std::vector<ValueIndex> inputs{};
};

/// Operators that are a unit by themselves (an attention, a rotary embedding, the root mean square norm), and calls of functions that compute
/// one, are units of one node.
///
/// The units of a model, ordered by their last node, each before the unit that contains it (an Attention contains its Softmax, an
/// Mlp its Gelu); apart from that, no two share a node. Linear in the size of the model; deterministic.
///
/// Casts inside belong to the unit; constants may be nodes, parameters or fields of operators.
std::vector<Unit> findUnits(const Network &network);

/// The same without units that contain others: those that backends replace by one operator.
std::vector<Unit> findInnerUnits(const Network &network);

/// Residual blocks, ordered by their sums; no two share a node. They contain other units, or parts of them. The search in a block is
/// linear in its nodes and stops at a few hundred.
std::vector<Unit> findResiduals(const Network &network);

/// Units of all kinds, each after those that it contains: findUnits(), findResiduals() and transformer blocks. A residual block may
/// share nodes with an Attention or Mlp that it does not contain completely.
std::vector<Unit> findAllUnits(const Network &network);

} // namespace halftone::patterns
