#include "core/interpret/body.h"
#include "core/interpret/run_steps.h"
#include "core/kernels/buffer.h"

#include <algorithm>
#include <cstring>

namespace halftone::interpret {
namespace {

using infer::BodyBinding;
using infer::BoundBody;
using tensor::Shape;
using tensor::Tensor;

/// Collects what each step of a loop gives.
class Stacks
{
public:
    /// Adds step number `step` of `most`.
    Result<void> add(std::span<const Tensor> outputs, std::int64_t step, std::int64_t most)
    {
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            const Tensor &part = outputs[i];
            if (step == 0) {
                std::vector<std::int64_t> dims{most};
                dims.insert(dims.end(), part.shape().dims().begin(), part.shape().dims().end());
                HALFTONE_TRY(kernels::Buffer buffer,
                             kernels::allocate({part.dtype(), Shape(std::move(dims))}));
                // Steps that a loop does not take stay zero.
                std::memset(buffer.bytes, 0, buffer.tensor.bytes().size());
                m_buffers.push_back(std::move(buffer));
            }
            const std::size_t size = part.bytes().size();
            if (kernels::descOf(part).dtype != m_buffers[i].tensor.dtype()
                || size * static_cast<std::size_t>(most) != m_buffers[i].tensor.bytes().size())
                return badInput("body",
                                "output " + std::to_string(i) + " changes its shape between iterations",
                                "one shape");
            if (size > 0)
                std::memcpy(m_buffers[i].bytes + static_cast<std::size_t>(step) * size, part.bytes().data(),
                            size);
        }
        return {};
    }

    std::vector<Tensor> take() const
    {
        std::vector<Tensor> tensors;
        for (const kernels::Buffer &buffer : m_buffers)
            tensors.push_back(buffer.tensor);
        return tensors;
    }

private:
    std::vector<kernels::Buffer> m_buffers;
};

Result<std::vector<Tensor>> runForEach(const Body &body, std::vector<Tensor> inputs,
                                       const RunOptions &options)
{
    const BoundBody &bound = *body.bound;
    std::int64_t steps = -1;
    std::size_t firstState = 0;
    for (const BoundBody::Tie &tie : bound.ties) {
        if (!tie.sliced)
            continue;
        ++firstState;
        const Shape &shape = inputs[tie.input].shape();
        if (shape.rank() == 0 || (steps >= 0 && shape[0] != steps))
            return badInput("input " + std::to_string(tie.input), shape.toString(),
                            "the same length as the other inputs");
        steps = shape[0];
    }
    const std::size_t states
        = bound.graph->heads().size() - std::min(bound.graph->heads().size(), bound.stacked);
    if (steps < 1 || firstState + states > inputs.size())
        return unsupported({}, "a loop without iterations", "at least one");
    Stacks stacks;
    for (std::int64_t step = 0; step < steps; ++step) {
        HALFTONE_TRY(const std::vector<Tensor> outputs, body.run(inputs, step, steps, options));
        HALFTONE_CHECK(stacks.add(std::span(outputs).first(bound.stacked), step, steps));
        std::copy_n(outputs.begin() + static_cast<std::ptrdiff_t>(bound.stacked), states,
                    inputs.begin() + static_cast<std::ptrdiff_t>(firstState));
    }
    std::vector<Tensor> results = stacks.take();
    results.insert(results.end(), inputs.begin() + static_cast<std::ptrdiff_t>(firstState),
                   inputs.begin() + static_cast<std::ptrdiff_t>(firstState + states));
    return results;
}

Result<std::vector<Tensor>> runWhile(const Body &condition, const Body &body, const BodyBinding &binding,
                                     std::vector<Tensor> inputs, const RunOptions &options)
{
    const std::size_t stacked = body.bound->stacked;
    Stacks stacks;
    std::int64_t step = 0;
    for (; step < binding.mostSteps; ++step) {
        HALFTONE_TRY(const std::vector<Tensor> verdict,
                     condition.run(inputs, step, binding.mostSteps, options));
        HALFTONE_TRY(const bool goesOn, isTrue(verdict));
        if (!goesOn)
            break;
        HALFTONE_TRY(const std::vector<Tensor> outputs, body.run(inputs, step, binding.mostSteps, options));
        HALFTONE_CHECK(
            stacks.add(std::span(outputs).first(std::min(stacked, outputs.size())), step, binding.mostSteps));
        for (const BodyBinding::Carried &carried : binding.carried) {
            if (carried.output >= outputs.size())
                return badInput("body", std::to_string(outputs.size()) + " outputs",
                                "one for each loop variable");
            inputs[carried.input] = outputs[carried.output];
        }
    }
    if (step == 0 && stacked > 0)
        return unsupported({}, "a loop without iterations has outputs of unknown shape",
                           "at least one iteration");
    std::vector<Tensor> results = stacks.take();
    for (const BodyBinding::Carried &carried : binding.carried)
        results.push_back(inputs[carried.input]);
    return results;
}

} // namespace

Result<std::vector<Tensor>> GraphRunner::runBodies(graph::NodeId id, const Setting &setting,
                                                   std::span<const Tensor> inputs, const RunOptions &options)
{
    using Kind = ops::ControlFlow::Kind;
    using Role = BoundBody::Role;
    const graph::NodeDef &node = m_graph.node(id);
    const std::size_t outputs = setting.types.outputs(id).size();
    HALFTONE_TRY(const BodyBinding binding, infer::bindBodies(m_graph, id, outputs));
    std::vector<Body> bodies;
    for (const BoundBody &bound : binding.bodies) {
        const auto at
            = std::ranges::find(node.subgraphs, bound.graph, [](const auto &body) { return body.get(); });
        bodies.push_back(
            {m_bodies.at(id)[static_cast<std::size_t>(at - node.subgraphs.begin())].get(), &bound});
    }
    if (bodies.empty())
        return unsupported({}, node.op + " does not say how its bodies are connected");
    std::vector<Tensor> own(inputs.begin(), inputs.end());
    if (binding.choice) {
        HALFTONE_TRY(const bool taken, isTrue({own[*binding.choice]}));
        return bodies[taken ? 0 : 1].run(own, 0, 1, options);
    }
    if (bodies.front().bound->role == Role::LoopCondition)
        return runWhile(bodies[0], bodies[1], binding, std::move(own), options);
    if (bodies.front().bound->role == Role::BranchCondition) {
        HALFTONE_TRY(const std::vector<Tensor> verdict, bodies[0].run(own, 0, 1, options));
        HALFTONE_TRY(const bool taken, isTrue(verdict));
        return bodies[taken ? 1 : 2].run(own, 0, 1, options);
    }
    if (const auto *flow = m_ops[id].getIf<ops::ControlFlow>();
        flow != nullptr && (flow->kind == Kind::Loop || flow->kind == Kind::Scan)) {
        const std::vector<kernels::TensorDesc> known = setting.outputsOf(id);
        return flow->kind == Kind::Loop ? runLoop(bodies[0], binding, std::move(own), known, options)
                                        : runScan(bodies[0], binding, std::move(own), known, options);
    }
    if (binding.isMapped) {
        const auto types = setting.types.outputs(id);
        return runMap(bodies[0], std::move(own), {types.begin(), types.end()}, options);
    }
    if (const auto *flow = m_ops[id].getIf<ops::ControlFlow>(); flow != nullptr && flow->kind != Kind::Call)
        return runForEach(bodies[0], std::move(own), options);
    return bodies[0].run(own, 0, 1, options); // fused or called: the body is the operator
}

} // namespace halftone::interpret
