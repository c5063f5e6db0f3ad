#include "core/interpret/run_steps.h"

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

/// An output of no step: extents that are not known are 0 as well.
Result<Tensor> emptyStack(const TensorDesc &known, const BoundBody::Stack &stack)
{
    std::vector<std::int64_t> dims{0};
    if (known.shape.hasRank()) {
        dims.assign(known.shape.dims().begin(), known.shape.dims().end());
        std::ranges::replace_if(
            dims, [](std::int64_t extent) { return extent < 0; }, 0);
        HALFTONE_TRY(const std::size_t at, ops::resolveAxis(stack.axis, dims.size()));
        dims[at] = 0;
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
                                part.shape().toString() + " in step " + std::to_string(step),
                                m_parts[k].front().shape().toString() + ", as in the steps before");
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
                         parts.empty() ? emptyStack(known[output], stack) : stacked(parts, stack, extent));
            results.push_back(std::move(result));
        }
        return results;
    }

private:
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
                            std::to_string(steps) + " steps, as the others have");
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
        return badInput({}, "a body that reads nothing of what is walked through", "a number of steps");
    if (steps < 0 || steps > extent)
        steps = extent;
    Steps taken(body, binding, std::move(inputs));
    for (std::int64_t step = 0; step < steps; ++step)
        HALFTONE_CHECK(taken.take(step, steps, options, true));
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
            return badInput("input " + std::to_string(k), shape.toString(), "a batch as large as the others");
        batch = shape[0];
    }
    if (batch < 1)
        return unsupported({}, "a batch of nothing", "one example or more");
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
    Steps taken(body, binding, std::move(inputs));
    std::int64_t step = 0;
    for (; step < most && goesOn; ++step) {
        HALFTONE_TRY(const std::vector<Tensor> condition, taken.take(step, most, options, goesOn));
        HALFTONE_TRY(goesOn, isTrue(condition));
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
