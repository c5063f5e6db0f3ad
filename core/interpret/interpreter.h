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

/// Arrays by the name of the variable that they feed.
using Feed = std::unordered_map<std::string, tensor::Tensor>;

/// What its values take.
std::size_t feedBytes(const Feed &feed);

/// What a node of the graph gave (bodies of control flow and fused operators are seen as one node).
struct NodeValue
{
    graph::NodeId node = 0;
    std::span<const tensor::Tensor> outputs; ///< with the hidden ones
    std::string_view kernel; ///< "reference", …; the operator's own name for a node that runs its bodies
};

/// What a run may take that only looks for shapes; 0: no such limit.
struct RunLimits
{
    std::int64_t steps = 0; ///< of one loop
    std::size_t bodyBytes = 0; ///< of what one node of a body gives
};

struct RunOptions
{
    /// Called after every node, in the order of execution; an error stops the run.
    std::function<Result<void>(const NodeValue &)> tap;
    Progress progress;
    RunLimits limits = {}; ///< fails: Unsupported where one is passed
};

/// A run that goes node by node at the caller's pace, and may be forked. Good as long as its Interpreter lives and is not
/// run or started with inputs of other shapes or types.
class Execution
{
public:
    Execution(Execution &&) noexcept;
    Execution &operator=(Execution &&) noexcept;
    ~Execution();

    bool isDone() const;
    graph::NodeId node() const; ///< which step() will compute. Needs: not done
    std::vector<tensor::Tensor> inputs() const; ///< that it will read
    std::size_t nextBytes() const; ///< of its outputs; 0 where a shape depends on values
    /// What a node gives, with the hidden outputs; a shape that depends on values is open.
    std::vector<kernels::TensorDesc> outputsOf(graph::NodeId node) const;
    double shareDone() const;
    /// The most bytes of values that a run to the end holds at a time; those of open shapes are not counted.
    std::size_t peakBytes() const;
    /// What the most demanding kernel needs for itself, about: one that reads parameters of two or more axes copies what it reads and
    /// makes into the order that it computes in, as float32. Those of open shapes are not counted.
    std::size_t scratchBytes() const;
    /// fails: as Interpreter::run.
    Result<NodeValue> step(const Progress &progress = {}, const RunLimits &limits = {});
    /// Takes these for what step() would compute. Needs: of the types and shapes that outputsOf(node()) tells.
    void give(std::vector<tensor::Tensor> outputs);
    /// The heads' values, in order. Needs: done
    std::vector<tensor::Tensor> heads() const;

    /// Bytes of the values that this execution computed itself and that are still to be read. Bodies of control flow and
    /// what kernels need for themselves are not counted.
    std::size_t ownBytes() const;
    /// Another execution that goes on from here. Values are shared and none of them is its own.
    Execution fork() const;
    /// Puts other values, of the same shapes and types, in place of a node's. Needs: computed and still to be read.
    void replace(graph::NodeId node, std::vector<tensor::Tensor> outputs);

private:
    friend class Interpreter;
    struct Inside;
    explicit Execution(std::unique_ptr<Inside> inside);

    std::unique_ptr<Inside> m_inside;
};

/// When a run's kernels are settled: all of them before the first node, or each when its node is computed.
enum class Prepare
{
    Ahead,
    WhenComputed,
    Once ///< when its node is computed, and given free then, with the weights that it packed: takes little memory, and more time
};

/// The comparison plan: runs a graph node by node and shows every value. Nothing is fused, values of 16 bit are
/// rounded after every operator, and a value is freed when its last reader is done. Kernels are kept for the shapes seen
/// last, so batch and picture sizes may change from run to run. One run at a time.
class Interpreter
{
public:
    Interpreter(Interpreter &&) noexcept;
    Interpreter &operator=(Interpreter &&) noexcept;
    ~Interpreter();

    /// float16As  the format that values of type float16 are held in and rounded to: another one (float8_e4m3fn, …) shows what
    ///            that would cost where no file's operators know it. Parameters come in it, or in float16
    /// fails: Unsupported for an operator without a kernel anywhere in what the heads need, and for a sparse parameter
    /// (where = the node).
    static Result<Interpreter> create(const graph::Model &model, kernels::BackendChain backends,
                                      tensor::DType float16As = tensor::DType::F16);

    /// The variables that a run needs: not parameters, and not labels, which only training needs and which count as
    /// zeros when they are not fed. In the graph's order.
    std::vector<std::string> inputs() const;

    /// The heads' values, in order. Input types that contradict the graph are converted to those that it wants; input
    /// shapes decide all others. Types and kernels of all nodes are settled before the first one runs.
    /// fails: BadInput for a missing or unknown input, for shapes or types that contradict each other, for values that an
    /// operator refuses; Unsupported where no backend has a kernel; Cancelled. where = the node.
    Result<std::vector<tensor::Tensor>> run(const Feed &feed, const RunOptions &options = {});

    /// The same up to the first node. fails: as run().
    Result<Execution> start(const Feed &feed, Prepare prepare = Prepare::Ahead);

private:
    class Impl;
    explicit Interpreter(std::unique_ptr<Impl> impl);

    std::unique_ptr<Impl> m_impl;
};

/// The model with parameters where kernels can read them (see readable()), so that interpreters share what was copied.
Result<graph::Model> withReadableParameters(graph::Model model);

/// The same for models that are run one after the other and share most of their parameters: what was copied for one is there for
/// all. For one thread at a time; keeps the parameters that it has copied.
class ReadableParameters
{
public:
    /// fails: NoMemory
    Result<graph::Model> of(graph::Model model);

private:
    struct Copied
    {
        tensor::Tensor source; ///< kept, so that nothing else comes to lie in its place
        tensor::Tensor copy;
    };
    std::unordered_map<const void *, Copied> m_copied; ///< by place
};

} // namespace halftone::interpret
