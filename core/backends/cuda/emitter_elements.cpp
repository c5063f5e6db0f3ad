#include "core/backends/cuda/element_text.h"
#include "core/backends/cuda/emitter.h"

namespace halftone::backends::cuda {

using plan::PlanNode;
using plan::ValueId;

namespace {

Dims extentsOf(const kernels::TensorDesc &desc)
{
    return Dims(desc.shape.dims().begin(), desc.shape.dims().end());
}

} // namespace

/// What one kernel over elements is being made of.
struct Emitter::Chain
{
    Dims dims;
    std::vector<View> views;
    std::vector<BufferId> buffers;
    std::vector<std::string> members;
    std::string statements;
    std::size_t names = 0;
    ValueId largest = plan::kNoValue; ///< an operand of the result's shape

    std::string define(const std::string &expression)
    {
        std::string name = "t" + std::to_string(names++);
        statements += "        const auto " + name + " = " + expression + ";\n";
        return name;
    }
};

Result<std::string> Emitter::argumentOf(Chain &chain, const PlanNode &node, std::size_t input)
{
    const ValueId value = node.inputs[input];
    const std::uint32_t producer = m_uses.producer[value];
    if (!m_places[value] && producer != plan::kNoPlanNode && m_absorbed[producer])
        return inChain(chain, m_graph.nodes[producer]);
    HALFTONE_TRY(const Place place, read(value));
    if (place.view.dims.size() > chain.dims.size())
        return unsupported("plan", "an operand of more axes than the result");
    const View view = stretchedInput(node, input, place.view, chain.dims);
    if (m_graph.desc(value).shape == m_graph.desc(node.outputs[0]).shape)
        chain.largest = value;
    for (std::size_t k = 0; k < chain.views.size(); ++k)
        if (chain.buffers[k] == place.buffer && chain.views[k] == view)
            return "x" + std::to_string(k);
    chain.views.push_back(view);
    chain.buffers.push_back(place.buffer);
    return "x" + std::to_string(chain.views.size() - 1);
}

Result<std::string> Emitter::inChain(Chain &chain, const PlanNode &node)
{
    std::vector<std::string> arguments;
    for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        HALFTONE_TRY(std::string argument, argumentOf(chain, node, k));
        arguments.push_back(std::move(argument));
    }
    const kernels::Operation operation = operationOf(m_graph, node);
    const auto text = elementText(operation, arguments);
    if (!text)
        return unsupported("plan", "no function of one element");
    const tensor::DType type = operation.outputs[0].dtype;
    std::string result = chain.define(
        tensor::isFloat(type) ? *text : "held<" + std::string(typeName(type)) + ">(" + *text + ")");
    for (const plan::PostOp &post : node.post) {
        PlanNode single{post.op, node.opName, {}, {node.outputs[0]}, {node.outputs[0]}, {}};
        std::vector<std::string> sides{result};
        if (post.operand != plan::kNoValue) {
            single.inputs.push_back(post.operand);
            HALFTONE_TRY(std::string side, argumentOf(chain, single, 1));
            sides.push_back(std::move(side));
        }
        const auto postText = elementText(operationOf(m_graph, single), sides);
        if (!postText)
            return unsupported("plan", "a post-operation");
        result = chain.define(*postText);
    }
    chain.members.insert(chain.members.end(), node.members.begin(), node.members.end());
    return result;
}

Result<void> Emitter::emitElements()
{
    const PlanNode &root = node();
    for (std::size_t k = 1; k < root.outputs.size(); ++k)
        if (readsOutput(root.outputs[k]))
            return unsupported("plan", "a second result of a function of one element");
    Chain chain;
    chain.dims = extentsOf(m_graph.desc(root.outputs[0]));
    HALFTONE_TRY(const std::string result, inChain(chain, root));
    const Order order = chain.largest == plan::kNoValue ? Order::Plain : orderOf(chain.largest);
    const Place to = write(root.outputs[0], order);
    kernels::PlanStep step = stepOf(root);
    if (chain.members.size() > 1)
        step.kind = kernels::StepKind::Compute;
    step.nodes = std::move(chain.members);
    std::vector<BufferId> arguments = std::move(chain.buffers);
    arguments.push_back(to.buffer);
    m_program->addKernel(std::move(step),
                         elementwise(chain.views, to.view, chain.statements, result, "elementwise"),
                         std::move(arguments));
    return {};
}

Result<std::pair<Epilogue, std::vector<BufferId>>> Emitter::epilogueOf(const PlanNode &node)
{
    Epilogue epilogue;
    std::vector<BufferId> buffers;
    const Dims dims = extentsOf(m_graph.desc(node.outputs[0]));
    std::size_t names = 0;
    for (const plan::PostOp &post : node.post) {
        PlanNode single{post.op, node.opName, {}, {node.outputs[0]}, {node.outputs[0]}, {}};
        std::vector<std::string> sides{epilogue.expression};
        if (post.operand != plan::kNoValue) {
            single.inputs.push_back(post.operand);
            HALFTONE_TRY(const Place place, read(post.operand));
            sides.push_back("e" + std::to_string(epilogue.operands.size()));
            epilogue.operands.push_back(stretchedInput(single, 1, place.view, dims));
            buffers.push_back(place.buffer);
        }
        const auto text = elementText(operationOf(m_graph, single), sides);
        if (!text)
            return unsupported("plan", "a post-operation that kernels do not know");
        const std::string name = "t" + std::to_string(names++);
        epilogue.statements += "    const auto " + name + " = " + *text + ";\n";
        epilogue.expression = name;
    }
    return std::pair(std::move(epilogue), std::move(buffers));
}

} // namespace halftone::backends::cuda
