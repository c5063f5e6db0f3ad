#include "core/interpret/run_steps.h"

#include "core/base/memory.h"
#include "core/dialect/dialect.h"
#include "core/kernels/buffer.h"
#include "core/ops/shape_slots.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

namespace halftone::interpret {
namespace {

using infer::BodyBinding;
using infer::BoundBody;
using kernels::TensorDesc;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// An output of no step. What is not known of it is as the body declares it; extents that nobody tells are 0 as well.
/// declared  of one step
Result<Tensor> emptyStack(const TensorDesc &known, const Shape &declared, const BoundBody::Stack &stack)
{
    std::vector<std::int64_t> dims{0};
    const bool isDeclared
        = declared.hasRank() && (!known.shape.hasRank() || known.shape.rank() == declared.rank() + 1);
    if (known.shape.hasRank() || isDeclared) {
        const std::size_t rank = known.shape.hasRank() ? known.shape.rank() : declared.rank() + 1;
        HALFTONE_TRY(const std::size_t at, ops::resolveAxis(stack.axis, rank));
        dims.assign(rank, 0);
        for (std::size_t k = 0; k < rank; ++k) {
            if (k == at)
                continue;
            const std::int64_t own = known.shape.hasRank() ? known.shape[k] : Shape::kUnknown;
            const std::int64_t written = isDeclared ? declared[k < at ? k : k - 1] : Shape::kUnknown;
            dims[k] = std::max<std::int64_t>(own >= 0 ? own : written, 0);
        }
    }
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({known.dtype, Shape(std::move(dims))}));
    return buffer.tensor;
}

/// What the steps gave, along a new axis of `extent`, which is more than there are steps where others have more: zeros follow.
Result<Tensor> stacked(const std::vector<Tensor> &parts, const BoundBody::Stack &stack, std::int64_t extent)
{
    const Tensor &first = parts.front();
    std::vector<std::int64_t> dims(first.shape().dims().begin(), first.shape().dims().end());
    HALFTONE_TRY(const std::size_t at, ops::resolveAxis(stack.axis, dims.size() + 1));
    std::size_t outer = 1;
    for (std::size_t k = 0; k < at; ++k)
        outer *= static_cast<std::size_t>(dims[k]);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), extent);
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({first.dtype(), Shape(std::move(dims))}));
    if (static_cast<std::int64_t>(parts.size()) < extent)
        std::memset(buffer.bytes, 0, buffer.tensor.bytes().size());
    const std::size_t size = outer == 0 ? 0 : first.bytes().size() / outer;
    for (std::size_t k = 0; k < parts.size() && size > 0; ++k) {
        const std::size_t place = stack.isBackward ? parts.size() - 1 - k : k;
        for (std::size_t o = 0; o < outer; ++o)
            std::memcpy(buffer.bytes + (o * static_cast<std::size_t>(extent) + place) * size,
                        parts[k].bytes().data() + o * size, size);
    }
    return buffer.tensor;
}

/// The steps of one loop so far.
class Steps
{
public:
    Steps(const Body &body, const BodyBinding &binding, std::vector<Tensor> inputs)
        : m_body(body)
        , m_binding(binding)
        , m_inputs(std::move(inputs))
        , m_parts(body.bound->stacked)
    {
    }

    /// gives: the heads before the outputs, a Loop's condition.
    Result<std::vector<Tensor>> take(std::int64_t step, std::int64_t steps, const RunOptions &options,
                                     bool goesOn)
    {
        HALFTONE_CHECK(options.progress.checkStop()); // of a body without nodes, too
        HALFTONE_TRY(std::vector<Tensor> heads, m_body.run(m_inputs, step, steps, options, goesOn));
        const auto outputs = std::span(heads).subspan(m_body.bound->firstHead);
        for (const BodyBinding::Carried &carried : m_binding.carried)
            m_inputs[carried.input] = outputs[carried.output];
        const std::size_t first = outputs.size() - m_parts.size();
        for (std::size_t k = 0; k < m_parts.size(); ++k) {
            const Tensor &part = outputs[first + k];
            if (!m_parts[k].empty() && m_parts[k].front().shape() != part.shape())
                return badInput("output " + std::to_string(first + k),
                                part.shape().toString() + " in iteration " + std::to_string(step),
                                m_parts[k].front().shape().toString() + ", as in earlier iterations");
            m_parts[k].push_back(part);
        }
        heads.resize(m_body.bound->firstHead);
        return heads;
    }

    Result<std::vector<Tensor>> results(const std::vector<TensorDesc> &known, std::int64_t extent) const
    {
        std::vector<Tensor> results;
        for (const BodyBinding::Carried &carried : m_binding.carried)
            results.push_back(m_inputs[carried.input]);
        for (const std::vector<Tensor> &parts : m_parts) {
            const std::size_t output = results.size();
            const BoundBody::Stack stack = m_body.bound->stackOf(output);
            HALFTONE_TRY(Tensor result,
                         parts.empty() ? emptyStack(known[output], declaredOf(output), stack)
                                       : stacked(parts, stack, extent));
            results.push_back(std::move(result));
        }
        return results;
    }

    /// fails: what `steps` steps like the first one stack up to does not fit into memory.
    Result<void> checkRoom(std::int64_t steps) const
    {
        for (const std::vector<Tensor> &parts : m_parts) {
            if (parts.empty())
                continue;
            const Shape &part = parts.front().shape();
            std::vector<std::int64_t> dims{steps};
            dims.insert(dims.end(), part.dims().begin(), part.dims().end());
            const TensorDesc whole{parts.front().dtype(), Shape(std::move(dims))};
            HALFTONE_TRY(const std::size_t bytes, kernels::checkedBytes(whole));
            const std::uint64_t kept = static_cast<std::uint64_t>(steps) * sizeof(Tensor);
            if (bytes + kept >= kLargeRequest)
                HALFTONE_CHECK(halftone::checkRoom(
                    bytes + kept, "what " + std::to_string(steps) + " steps of a loop give"));
        }
        return {};
    }

private:
    Shape declaredOf(std::size_t output) const
    {
        const graph::Graph &body = *m_body.bound->graph;
        return dialect::of(body).declaredHead(body, m_body.bound->firstHead + output);
    }

    const Body &m_body;
    const BodyBinding &m_binding;
    std::vector<Tensor> m_inputs;
    std::vector<std::vector<Tensor>> m_parts; ///< by stacked output, by step
};

Result<std::int64_t> wholeNumber(const Tensor &tensor)
{
    if (tensor.dtype() != DType::I64 || tensor.elementCount() != 1)
        return badInput("trip count",
                        std::string(tensor::nameOf(tensor.dtype())) + ' ' + tensor.shape().toString(),
                        "one int64");
    std::int64_t value = 0;
    std::memcpy(&value, tensor.bytes().data(), sizeof value);
    return value;
}

constexpr double kMostNodeRuns = 1e10; ///< hours
constexpr std::int64_t kStepsBetweenChecks = 65536; ///< of memory, where nothing tells how many there will be

/// fails: Unsupported for so many steps of the body that they would never end, or more than a limit.
Result<void> checkSteps(const Body &body, std::int64_t steps, const RunLimits &limits)
{
    const auto nodes = static_cast<double>(std::max<std::size_t>(body.bound->graph->nodeCount(), 1));
    const bool isBeyond = limits.steps > 0 && steps > limits.steps;
    if (!isBeyond && static_cast<double>(steps) * nodes <= kMostNodeRuns)
        return {};
    const auto most = isBeyond ? limits.steps : static_cast<std::int64_t>(kMostNodeRuns / nodes);
    return unsupported({}, "a loop of " + std::to_string(steps) + " iterations",
                       "at most " + std::to_string(most)
                           + (isBeyond ? " during shape inference" : ", which already take hours"));
}

/// Whether the body hands on the condition that it is given, or says that it is always true: all steps are taken then.
bool alwaysGoesOn(const BoundBody &bound)
{
    const graph::Graph &body = *bound.graph;
    if (bound.firstHead == 0 || body.heads().empty())
        return false;
    graph::Entry from = body.heads()[0];
    while (!body.isVariable(from.node)) {
        const graph::NodeDef &node = body.node(from.node);
        const auto held = dialect::of(body).constantOf(node);
        if (held.ok() && held.value()) {
            const auto isHeldTrue = isTrue({*held.value()});
            return isHeldTrue.ok() && isHeldTrue.value();
        }
        const auto op = dialect::of(body).readKind(node);
        const auto *unary = op.ok() ? op.value().getIf<ops::Unary>() : nullptr;
        if (unary == nullptr || unary->kind != ops::UnaryKind::Identity || body.inputs(from.node).size() != 1)
            return false;
        from = body.inputs(from.node)[0];
    }
    return std::ranges::any_of(bound.given, [&from](const BoundBody::Given &given) {
        return given.variable == from.node && !given.isStep;
    });
}

/// As many as every sliced input has along its axis.
Result<std::int64_t> stepsOf(const BoundBody &bound, const std::vector<Tensor> &inputs)
{
    std::int64_t steps = -1;
    for (const BoundBody::Tie &tie : bound.ties) {
        if (!tie.sliced)
            continue;
        const Shape &shape = inputs[tie.input].shape();
        HALFTONE_TRY(const std::size_t axis, ops::resolveAxis(tie.axis, shape.rank()));
        if (steps >= 0 && shape[axis] != steps)
            return badInput("input " + std::to_string(tie.input), shape.toString(),
                            std::to_string(steps) + " steps, like the other inputs");
        steps = shape[axis];
    }
    return steps;
}

/// `steps`: -1: as many as there are. `extent`: of stacked outputs; -1: the number of steps.
Result<std::vector<Tensor>> scanned(const Body &body, const BodyBinding &binding, std::vector<Tensor> inputs,
                                    const std::vector<TensorDesc> &known, const RunOptions &options,
                                    std::int64_t steps = -1)
{
    HALFTONE_TRY(const std::int64_t extent, stepsOf(*body.bound, inputs));
    if (extent < 0)
        return badInput({}, "the number of iterations is unknown: the body reads none of the scanned inputs");
    if (steps < 0 || steps > extent)
        steps = extent;
    HALFTONE_CHECK(checkSteps(body, steps, options.limits));
    Steps taken(body, binding, std::move(inputs));
    for (std::int64_t step = 0; step < steps; ++step) {
        HALFTONE_CHECK(taken.take(step, steps, options, true));
        if (step == 0)
            HALFTONE_CHECK(taken.checkRoom(extent));
    }
    return taken.results(known, extent);
}

/// Inputs of the node's own, which a batch is made of.
std::vector<bool> batchedInputs(const Body &body, const BodyBinding &binding, std::size_t inputs)
{
    std::vector<bool> isBatched(inputs, false);
    for (const BodyBinding::Carried &carried : binding.carried)
        isBatched[carried.input] = true;
    for (const BoundBody::Tie &tie : body.bound->ties)
        isBatched[tie.input] = isBatched[tie.input] || tie.sliced;
    return isBatched;
}

Result<std::int64_t> batchOf(const std::vector<Tensor> &inputs, const std::vector<bool> &isBatched)
{
    std::int64_t batch = -1;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (!isBatched[k])
            continue;
        const Shape &shape = inputs[k].shape();
        if (shape.rank() == 0 || (batch >= 0 && shape[0] != batch))
            return badInput("input " + std::to_string(k), shape.toString(),
                            "the same batch size as the other inputs");
        batch = shape[0];
    }
    if (batch < 1)
        return unsupported({}, "an empty batch", "at least one example");
    return batch;
}

/// Until opset 8: each example of a batch by itself.
Result<std::vector<Tensor>> scannedByExample(const Body &body, const BodyBinding &binding,
                                             const std::vector<Tensor> &inputs,
                                             const std::vector<TensorDesc> &known, const RunOptions &options)
{
    const std::vector<bool> isBatched = batchedInputs(body, binding, inputs.size());
    HALFTONE_TRY(const std::int64_t batch, batchOf(inputs, isBatched));
    std::vector<std::vector<Tensor>> byOutput;
    for (std::int64_t example = 0; example < batch; ++example) {
        std::vector<Tensor> own = inputs;
        for (std::size_t k = 0; k < own.size(); ++k) {
            if (isBatched[k]) {
                HALFTONE_TRY(own[k], sliceOf(inputs[k], 0, example));
            }
        }
        std::int64_t steps = -1;
        if (binding.lengths) {
            HALFTONE_TRY(const Tensor length, sliceOf(inputs[*binding.lengths], 0, example));
            HALFTONE_TRY(steps, wholeNumber(length));
        }
        HALFTONE_TRY(std::vector<Tensor> results,
                     scanned(body, binding, std::move(own), known, options, steps));
        byOutput.resize(results.size());
        for (std::size_t k = 0; k < results.size(); ++k)
            byOutput[k].push_back(std::move(results[k]));
    }
    std::vector<Tensor> results;
    for (const std::vector<Tensor> &parts : byOutput) {
        HALFTONE_TRY(Tensor result, stacked(parts, {}, batch));
        results.push_back(std::move(result));
    }
    return results;
}

} // namespace

Result<std::vector<Tensor>> runLoop(const Body &body, const BodyBinding &binding, std::vector<Tensor> inputs,
                                    const std::vector<TensorDesc> &known, const RunOptions &options)
{
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    bool goesOn = true;
    if (binding.tripCount) {
        HALFTONE_TRY(most, wholeNumber(inputs[*binding.tripCount]));
    }
    if (binding.firstCondition) {
        HALFTONE_TRY(goesOn, isTrue({inputs[*binding.firstCondition]}));
    }
    const bool isCounted = alwaysGoesOn(*body.bound); // else the trip count is often the largest there is
    if (goesOn && isCounted)
        HALFTONE_CHECK(checkSteps(body, most, options.limits));
    Steps taken(body, binding, std::move(inputs));
    std::int64_t step = 0;
    for (; step < most && goesOn; ++step) {
        HALFTONE_TRY(const std::vector<Tensor> condition, taken.take(step, most, options, goesOn));
        HALFTONE_TRY(goesOn, isTrue(condition));
        if (isCounted && step == 0)
            HALFTONE_CHECK(taken.checkRoom(most));
        if (!isCounted && step % kStepsBetweenChecks == kStepsBetweenChecks - 1)
            HALFTONE_CHECK(taken.checkRoom(step));
        if (!isCounted && options.limits.steps > 0 && step >= options.limits.steps)
            HALFTONE_CHECK(checkSteps(body, step + 1, options.limits));
    }
    return taken.results(known, step);
}

Result<std::vector<Tensor>> runScan(const Body &body, const BodyBinding &binding, std::vector<Tensor> inputs,
                                    const std::vector<TensorDesc> &known, const RunOptions &options)
{
    return binding.isBatched ? scannedByExample(body, binding, inputs, known, options)
                             : scanned(body, binding, std::move(inputs), known, options);
}

} // namespace halftone::interpret
