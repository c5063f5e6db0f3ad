#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/graph/model.h"
#include "core/kernels/backend.h"
#include "core/tensor/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace halftone::interpret {

/// Input arrays by the name of their variable.
using Feed = std::unordered_map<std::string, tensor::Tensor>;

/// Bytes of the values.
std::size_t feedBytes(const Feed &feed);

/// The result of a node (control flow and fused operators count as one node).
struct NodeValue
{
    graph::NodeId node = 0;
    std::span<const tensor::Tensor> outputs; ///< including hidden ones
    std::string_view kernel; ///< "reference", …; the operator name for a control flow node
};

/// Limits of a run for shape inference; 0: no limit.
struct RunLimits
{
    std::int64_t steps = 0; ///< iterations of one loop
    std::size_t bodyBytes = 0; ///< of the outputs of one node in a body
};

struct RunOptions
{
    /// Called after every node, in the order of execution; an error stops the run.
    std::function<Result<void>(const NodeValue &)> tap;
    Progress progress;
    RunLimits limits = {}; ///< fails: Unsupported if one is exceeded
};

/// A run controlled by the caller node by node, which can be forked. Valid while its Interpreter lives and is not run or started
/// with inputs of other shapes or types.
class Execution
{
public:
    Execution(Execution &&) noexcept;
    Execution &operator=(Execution &&) noexcept;
    ~Execution();

    bool isDone() const;
    graph::NodeId node() const; ///< the node that step() computes next. Needs: not done
    std::vector<tensor::Tensor> inputs() const; ///< the inputs of that node
    std::size_t nextBytes() const; ///< bytes of its outputs; 0 if a shape depends on values
    /// Types and shapes of the outputs of a node, including hidden ones; a shape that depends on values is incomplete.
    std::vector<kernels::TensorDesc> outputsOf(graph::NodeId node) const;
    double shareDone() const;
    /// Peak bytes of values in a complete run, without tensors of unknown shape.
    std::size_t peakBytes() const;
    /// Approximate scratch memory of the most demanding kernel: one with parameters of two or more axes copies its inputs and outputs
    /// to its own layout, as float32. Tensors of unknown shape are not counted.
    std::size_t scratchBytes() const;
    /// fails: as Interpreter::run.
    Result<NodeValue> step(const Progress &progress = {}, const RunLimits &limits = {});
    /// Replaces the result of step(). Needs: types and shapes of outputsOf(node()).
    void give(std::vector<tensor::Tensor> outputs);
    /// The outputs of the model, in order. Needs: done
    std::vector<tensor::Tensor> heads() const;

    /// Bytes of values that this execution computed and that are still needed, without bodies of control flow and scratch
    /// memory of kernels.
    std::size_t ownBytes() const;
    /// A second execution that continues from here. Values are shared and do not count as its own.
    Execution fork() const;
    /// Replaces the values of a node by others of the same shapes and types. Needs: computed and still needed.
    void replace(graph::NodeId node, std::vector<tensor::Tensor> outputs);

private:
    friend class Interpreter;
    struct Inside;
    explicit Execution(std::unique_ptr<Inside> inside);

    std::unique_ptr<Inside> m_inside;
};

/// When kernels are prepared: all before the first node, or each before its node.
enum class Prepare
{
    Ahead,
    WhenComputed,
    Once ///< before its node, and freed afterwards with its packed weights: less memory, more time
};

/// Runs a graph node by node and returns every value. Nothing is fused, 16-bit values are rounded after every operator, and a value
/// is freed after its last use. Kernels are kept for the latest shapes, so batch and picture sizes may change between runs. One run at a
/// time.
class Interpreter
{
public:
    Interpreter(Interpreter &&) noexcept;
    Interpreter &operator=(Interpreter &&) noexcept;
    ~Interpreter();

    /// float16As  the format that float16 values are rounded to: another one (float8_e4m3fn, …) measures the error of a format that no
    ///            model file supports. Parameters are given in it, or in float16
    /// fails: Unsupported for a needed operator without a kernel, and for a sparse parameter (where = the node).
    static Result<Interpreter> create(const graph::Model &model, kernels::BackendChain backends,
                                      tensor::DType float16As = tensor::DType::F16);

    /// The inputs that a run needs, in the order of the graph: no parameters, and no labels, which are only used in training and count
    /// as zeros if missing.
    std::vector<std::string> inputs() const;

    /// The outputs of the model, in order. Inputs are converted to the types of the graph; their shapes determine all others. Types and
    /// kernels of all nodes are determined before the first one runs.
    /// fails: BadInput for a missing or unknown input, contradictory shapes or types, or values that an operator rejects; Unsupported
    /// if no backend has a kernel; Cancelled. where = the node.
    Result<std::vector<tensor::Tensor>> run(const Feed &feed, const RunOptions &options = {});

    /// Prepares the same run up to the first node. fails: as run().
    Result<Execution> start(const Feed &feed, Prepare prepare = Prepare::Ahead);

private:
    class Impl;
    explicit Interpreter(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

/// The model with parameters that kernels can read directly (see readable()), so that interpreters share the copies.
Result<graph::Model> withReadableParameters(graph::Model model);

/// The same for several models that share most parameters and run one after another: copies are reused. For one thread at a time;
/// keeps the copied parameters.
class ReadableParameters
{
public:
    /// fails: NoMemory
    Result<graph::Model> of(graph::Model model);

private:
    struct Copied
    {
        tensor::Tensor source; ///< kept alive, so that its address is not reused
        tensor::Tensor copy;
    };
    std::unordered_map<const void *, Copied> m_copied; ///< by address
};

} // namespace halftone::interpret
