#pragma once

#include "core/backends/cuda/view.h"
#include "core/base/result.h"
#include "core/kernels/latency_plan.h"
#include "core/plan/plan_graph.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace halftone::backends::cuda {

enum class Activation : std::uint8_t
{
    None,
    Relu,
    GeluErf,
    GeluTanh,
    Sigmoid,
    Tanh,
    Swish
};

/// A sum of products as a vendor's library takes it, with what it does to the result: activation(product + bias + residual).
struct ProductDesc
{
    bool isConvolution = false;
    View a; ///< data (N, C, spatial…), or (batch…, m, k)
    View b; ///< weight (O, I / groups, kernel…), or (batch…, k, n)
    View c; ///< the result, as `a`
    Dims stride{}; ///< of convolutions, by spatial axis, as the three below
    Dims dilate{};
    Dims padBegin{};
    Dims padEnd{};
    std::int64_t groups = 1;
    std::int64_t emptyChannels
        = 0; ///< of a convolution's data and weight, the last ones: zeros, which are no work
    bool hasBias = false; ///< of c's type: one value a channel, or a column
    std::optional<View> residual{}; ///< dims of `c`
    Activation activation = Activation::None;
    std::optional<double> ceiling{}; ///< of ReLU: what it is cut at
    bool allowsTf32 = false;
    double scale = 1; ///< of the sums, before all else: what products of codes of float8 stand for
};

/// A product prepared by a library. Arguments: a, b[, bias][, residual], c: device addresses.
class Product
{
public:
    virtual ~Product() = default;
    virtual std::string name() const = 0; ///< "cuDNN convolution + bias + relu"
    /// Algorithms that compute it, in the order in which the library believes in them. The first is used until useWay().
    virtual std::size_t wayCount() const { return 1; }
    virtual void useWay(std::size_t) { }
    virtual std::size_t workspaceBytes() const = 0; ///< of the way in use
    /// That the way in use took when ways were timed; nothing where they were not.
    virtual std::optional<double> microseconds() const { return std::nullopt; }
    virtual Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) = 0;
};

/// What a library can do behind a product: a bias and a residual, then one activation.
struct Fusion
{
    plan::ValueId bias = plan::kNoValue; ///< a vector along the last axis
    plan::ValueId residual = plan::kNoValue;
    Activation activation = Activation::None;
    std::optional<double> ceiling{}; ///< of ReLU
};
/// Nothing where the post-operations are others, or in another order, or the residual has not the result's type and shape.
/// takesVectors  a sum with a vector along the last axis is a bias: of products without one
std::optional<Fusion> fusionOf(const plan::PlanGraph &graph, const plan::PlanNode &node, bool takesVectors);

/// Operations and bytes that a kernel of these views cannot do without, for the roofline.
struct Work
{
    double flops = 0;
    double bytes = 0;
};
Work workOf(const ProductDesc &desc);
/// Told of a step.
kernels::PlanStep withWork(kernels::PlanStep step, const Work &work);

} // namespace halftone::backends::cuda
