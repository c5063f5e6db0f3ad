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

/// Type and complete shape of a dense row-major tensor.
struct TensorDesc
{
    tensor::DType dtype = tensor::DType::Unknown;
    tensor::Shape shape;

    bool operator==(const TensorDesc &) const = default;
};

/// An operator with everything that determines its kernel: types and shapes of its inputs and outputs (including hidden
/// outputs, as inferred).
struct Operation
{
    ops::Operator op;
    std::string opName; ///< the framework's, for messages
    std::vector<TensorDesc> inputs;
    std::vector<TensorDesc> outputs;
    /// By input, values known in advance (parameters); a tensor of unknown type for others. May be shorter than `inputs`.
    /// A kernel may pack them once, because every run() gets the same values.
    std::vector<tensor::Tensor> constants = {};
    /// Outputs from this index on are hidden and unused; a kernel need not write them.
    std::size_t readOutputs = ~std::size_t{0};
    /// Seed of an operator that draws random numbers.
    std::uint64_t seed = 0;
    /// Accumulator type of products, rounded at each step; Unknown: the choice of the kernel.
    tensor::DType accumulator = tensor::DType::Unknown;

    bool isConstant(std::size_t input) const
    {
        return input < constants.size() && constants[input].dtype() != tensor::DType::Unknown;
    }
    bool isRead(std::size_t output) const { return output < readOutputs; }
};

/// How a machine supports a type.
enum class Support
{
    No,
    Emulated, ///< correct values (rounded storage, wider accumulation), but meaningless times
    Native
};

std::string_view nameOf(Support support); ///< "no", "emulated", "native"

/// An operator prepared for one set of types and shapes. May run any number of times, by one thread at a time.
class Kernel
{
public:
    virtual ~Kernel() = default;

    /// The implementation, for reports: "reference", "own avx512", "oneDNN jit:avx512_core_amx", ….
    virtual std::string name() const = 0;
    /// Buffers in the order of the Operation, dense row-major. Inputs are aligned to their element size, outputs to 64 bytes;
    /// no buffers overlap.
    /// fails: BadInput for values that the operator rejects (such as an index out of range, if its mode requires an error).
    virtual Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs)
        = 0;
    /// A long run() checks `stop` from time to time and returns early on request; the outputs are then invalid. Short ones need
    /// not check.
    virtual void setStop(std::stop_token) { }
};

/// The seed of a node: its name's FNV-1a hash (Fowler, Noll and Vo), so that a node draws the same numbers in every run and
/// every conversion of its model, and different ones from other nodes.
std::uint64_t seedOf(std::string_view nodeName);

/// A device or library that computes. Backends do not depend on each other.
class Backend
{
public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0; ///< name for selection
    virtual Support support(tensor::DType type) const = 0;
    /// fails: Unsupported, naming operator, type or attribute and the reason.
    /// The kernel may outlive the backend.
    virtual Result<std::unique_ptr<Kernel>> prepare(const Operation &operation) const = 0;
    /// A latency plan for the outputs of the model, with zeros as inputs; it may outlive the backend. Operators that the backend
    /// does not compute are passed to its fallback.
    /// fails: Unsupported for a backend without plans, and for an operator without a kernel; BadInput for a type or shape that
    ///        cannot be inferred from the inputs: where = node
    virtual Result<std::unique_ptr<LatencyPlan>> plan(const infer::TypedModel &model,
                                                      const PlanOptions &options) const;
};

/// Tried in order for every node; the first one that accepts it computes it.
using BackendChain = std::vector<std::shared_ptr<const Backend>>;

} // namespace halftone::kernels
