#include "core/backends/cuda/lower.h"

#include "core/backends/cuda/element_text.h"

namespace halftone::backends::cuda {

Error refused(std::string why)
{
    return unsupported("plan", std::move(why));
}

Result<void> requireSingleOutput(const Emitter &emitter)
{
    const plan::PlanNode &node = emitter.node();
    for (std::size_t k = 1; k < node.outputs.size(); ++k)
        if (emitter.readsOutput(node.outputs[k]))
            return refused("a second result of " + node.opName);
    return {};
}

Result<void> lower(Emitter &emitter)
{
    const plan::PlanNode &node = emitter.node();
    if (node.outputs.empty())
        return refused("no result");
    if (const auto count = emitter.graph().desc(node.outputs[0]).shape.elementCount(); !count || *count == 0)
        return refused("an empty result");
    if (isElementwise(operationOf(emitter.graph(), node)))
        return emitter.emitElements();
    HALFTONE_CHECK(requireSingleOutputOrSplit(emitter));
    if (typeName(emitter.graph().desc(node.outputs[0]).dtype).empty())
        return refused("results of type "
                       + std::string(tensor::nameOf(emitter.graph().desc(node.outputs[0]).dtype)));
    for (const auto &lowered :
         {&lowerCodes, &lowerFloat8, &lowerProduct, &lowerAttention, &lowerMove, &lowerLines, &lowerWindow}) {
        const std::optional<Result<void>> done = lowered(emitter);
        if (done)
            return *done;
    }
    return refused("no kernel for " + node.opName);
}

Result<void> requireSingleOutputOrSplit(const Emitter &emitter)
{
    return emitter.node().op.is<ops::Split>() ? Result<void>() : requireSingleOutput(emitter);
}

void finishSums(Emitter &emitter, const Place &sums, const Place &result, const Epilogue &epilogue,
                const std::vector<BufferId> &buffers)
{
    std::vector<View> inputs{sums.view};
    std::vector<BufferId> arguments{sums.buffer};
    std::string statements = "        const auto acc = x0;\n";
    for (std::size_t k = 0; k < epilogue.operands.size(); ++k) {
        inputs.push_back(epilogue.operands[k]);
        arguments.push_back(buffers[k]);
        statements += "        const auto e" + std::to_string(k) + " = x" + std::to_string(k + 1) + ";\n";
    }
    arguments.push_back(result.buffer);
    emitter.launch(elementwise(inputs, result.view, statements + epilogue.statements, epilogue.expression,
                               "behind sums"),
                   std::move(arguments));
}

} // namespace halftone::backends::cuda
