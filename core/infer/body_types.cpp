#include "core/dialect/dialect.h"
#include "core/infer/body_binding.h"
#include "core/infer/type_walk.h"

#include <algorithm>

namespace halftone::infer {
namespace {

using Role = BoundBody::Role;
using tensor::DType;

Result<void> unify(DType &a, DType &b, const char *what)
{
    if (a != DType::Unknown && b != DType::Unknown && a != b)
        return badInput({},
                        std::string(what) + " is both " + std::string(tensor::nameOf(a)) + " and "
                            + std::string(tensor::nameOf(b)),
                        "one type");
    (a == DType::Unknown ? a : b) = a == DType::Unknown ? b : a;
    return {};
}

/// What the node around a body knows of its heads.
std::vector<DType> headTypes(const BoundBody &body, std::span<const DType> outputs)
{
    std::vector<DType> heads(body.graph->heads().size(), DType::Unknown);
    if (body.role == Role::Result) {
        const std::size_t first = std::min(body.firstHead, heads.size());
        std::ranges::fill(std::span(heads).first(first), DType::Bool);
        std::copy_n(outputs.begin(), std::min(heads.size() - first, outputs.size()),
                    heads.begin() + static_cast<std::ptrdiff_t>(first));
    } else if (body.role == Role::BranchCondition) {
        std::ranges::fill(heads, DType::F32);
    }
    return heads;
}

Result<void> inferBody(const BoundBody &body, std::span<DType> inputs, std::span<DType> outputs, int depth)
{
    const std::vector<DType> variables = handedTypes(body, inputs);
    const std::vector<DType> heads = headTypes(body, outputs);
    HALFTONE_TRY(const TypeMap types, walkTypes(*body.graph, {variables, heads}, depth));
    // An input may stand for several variables: what one of them learnt must go with the others.
    for (const BoundBody::Tie &tie : body.ties) {
        DType learnt = types.at(tie.variable, 0);
        HALFTONE_CHECK(unify(inputs[tie.input], learnt, "an input that the body reads"));
    }
    for (std::size_t i = 0; body.role == Role::Result && i < std::min(body.outputCount(), outputs.size());
         ++i)
        outputs[i] = types.of(body.graph->heads()[body.firstHead + i]);
    return {};
}

/// Whether the weights are stored as integers: MXNet's quantization does that for these and leaves convolutions theirs.
bool hasIntegerWeights(const graph::Graph &body)
{
    for (graph::NodeId id = 0; id < body.nodeCount(); ++id) {
        const auto op = dialect::of(body).read(body.node(id));
        if (op.ok() && op.value().is<ops::FullyConnected>())
            return true;
    }
    return false;
}

/// Completes the inputs of a quantized body: what comes as integers is worked on as float32 would be, and the others
/// (weights, statistics, ends of ranges) are real.
Result<void> inferQuantized(const BoundBody &body, std::span<DType> inputs, int depth)
{
    std::vector<DType> variables(body.graph->nodeCount(), DType::Unknown);
    for (const BoundBody::Tie &tie : body.ties) {
        const DType type = inputs[tie.input];
        const bool isData = tie.input == 0 || (type != DType::Unknown && !tensor::isFloat(type));
        variables[tie.variable] = isData ? DType::F32 : type;
    }
    HALFTONE_TRY(const TypeMap types, walkTypes(*body.graph, {variables, {}}, depth));
    const bool integers = hasIntegerWeights(*body.graph);
    for (std::size_t i = 1; i < inputs.size(); ++i) {
        if (inputs[i] != DType::Unknown)
            continue;
        const bool isRange = i >= body.ties.size();
        inputs[i] = isRange ? DType::F32 : integers ? DType::I8 : types.at(body.ties[i].variable, 0);
    }
    return {};
}

} // namespace

Result<bool> inferBodyTypes(const graph::Graph &graph, graph::NodeId id, std::span<DType> inputs,
                            std::span<DType> outputs, int depth)
{
    if (depth > kMaxBodyDepth)
        return false;
    HALFTONE_TRY(const BodyBinding binding, bindBodies(graph, id, outputs.size()));
    if (!binding.bodies.empty() && binding.isQuantized) {
        HALFTONE_CHECK(inferQuantized(binding.bodies[0], inputs, depth));
        return false;
    }
    const auto heads = binding.hasFloatOutput ? std::span<DType>() : outputs;
    for (const BoundBody &body : binding.bodies)
        HALFTONE_CHECK(inferBody(body, inputs, heads, depth));
    for (const BodyBinding::Carried &carried : binding.carried) {
        if (carried.output < outputs.size())
            HALFTONE_CHECK(unify(inputs[carried.input], outputs[carried.output], "a loop variable"));
    }
    return !binding.bodies.empty() && !binding.hasFloatOutput;
}

} // namespace halftone::infer
