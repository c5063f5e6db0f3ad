#pragma once

#include "core/base/result.h"
#include "core/ops/operator.h"
#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::infer {
struct TypedModel;
}

namespace halftone::kernels {

class LatencyPlan; // latency_plan.h
struct PlanOptions;

/// A dense row-major tensor without its values. The shape is fully known.
struct TensorDesc
{
    tensor::DType dtype = tensor::DType::Unknown;
    tensor::Shape shape;

    bool operator==(const TensorDesc &) const = default;
};

/// An operator with everything that decides its kernel: types and shapes of its inputs and outputs (hidden
/// outputs too, as the type and shape rules give them).
struct Operation
{
    ops::Operator op;
    std::string opName; ///< the framework's, for messages
    std::vector<TensorDesc> inputs;
    std::vector<TensorDesc> outputs;
    /// By input, what is known of the values ahead (parameters); a tensor of unknown type where nothing is. May be shorter
    /// than `inputs`. A kernel may pack them once, since every run() is given the same values.
    std::vector<tensor::Tensor> constants = {};
    /// Nobody reads the outputs from here on: hidden ones, which a kernel may leave as they are.
    std::size_t readOutputs = ~std::size_t{0};
    /// Where an operator that draws random numbers begins: the same seed, the same numbers.
    std::uint64_t seed = 0;
    /// Of sums of products, where they are to be rounded at each step; Unknown: as wide as the kernel adds them.
    tensor::DType accumulator = tensor::DType::Unknown;

    bool isConstant(std::size_t input) const
    {
        return input < constants.size() && constants[input].dtype() != tensor::DType::Unknown;
    }
    bool isRead(std::size_t output) const { return output < readOutputs; }
};

/// Does a machine compute in a type?
enum class Support
{
    No,
    Emulated, ///< right values (storage rounded, wider accumulation), meaningless time
    Native
};

std::string_view nameOf(Support support); ///< "no", "emulated", "native"

/// An operator prepared for one set of types and shapes; run as often as wanted, by one thread at a time.
class Kernel
{
public:
    virtual ~Kernel() = default;

    /// What computes it, for reports: "reference", "own avx512", "oneDNN jit:avx512_core_amx", ….
    virtual std::string name() const = 0;
    /// Buffers in the order of the Operation, dense row-major; inputs lie at a multiple of their elements' size, outputs of
    /// 64 bytes, and overlap nothing.
    /// fails: BadInput for values that the operator refuses (an index out of range, where its mode says error).
    virtual Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs)
        = 0;
    /// A long run() looks at `stop` now and then and returns early once it is requested; what the outputs then hold is
    /// not to be used. Short ones need not.
    virtual void setStop(std::stop_token) { }
};

/// The seed of a node: its name's FNV-1a hash (Fowler, Noll and Vo), so that a node draws the same numbers in every run and
/// in every conversion of its model, and others than its neighbours.
std::uint64_t seedOf(std::string_view nodeName);

/// A way to compute. Backends know no sibling.
class Backend
{
public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0; ///< as callers choose it by
    virtual Support support(tensor::DType type) const = 0;
    /// fails: Unsupported, saying which operator, type or attribute and why.
    /// The kernel may outlive the backend.
    virtual Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const = 0;
    /// A latency plan for what the model's heads need, whose inputs are zeros; it may outlive the backend. What a backend
    /// does not compute itself it leaves to another one that it knows.
    /// fails: Unsupported for a backend that makes no plans, and for an operator that nobody computes; BadInput for a type
    ///        or shape that does not follow from the inputs': where = node
    virtual Result<std::unique_ptr<LatencyPlan>> plan(const infer::TypedModel &model,
                                                      const PlanOptions &options) const;
};

/// Tried in order for every node; the first that takes it computes it.
using BackendChain = std::vector<std::shared_ptr<const Backend>>;

} // namespace halftone::kernels
