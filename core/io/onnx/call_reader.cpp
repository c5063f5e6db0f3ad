#include "core/dialect/onnx/element_type.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/dialect/onnx/operator_rows.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/graph_reader.h"

#include <algorithm>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;

constexpr int kDeepestCalls
    = 16; ///< within bodies of what functions call; within each other they are one body

} // namespace

/// Of a value of the graph whose type the file tells.
bool GraphReader::isReal(const std::string &value) const
{
    if (const auto held = m_initializers.find(value); held != m_initializers.end())
        return tensor::isFloat(
            names::dtypeOfCode(held->second->data_type()).value_or(tensor::DType::Unknown));
    const auto found = m_values.find(value);
    if (found == m_values.end() || !m_graph.isVariable(found->second.node))
        return false;
    const auto type = m_context.dialect->declaredType(m_graph.node(found->second.node));
    return type.ok() && tensor::isFloat(type.value());
}

/// Gives the node of an operator that the opset does not know, and that is a function, its body. It sees nothing of the
/// graph around the call.
Result<void> GraphReader::readCall(const ::onnx::NodeProto &node, graph::NodeDef &def,
                                   const std::string &where)
{
    if (!m_bodies.empty() || m_context.depth >= kDeepestCalls)
        return {};
    const Functions::Found found = m_context.functions->find(node);
    const bool isKnown = m_context.dialect->findOp(def.op) != nullptr;
    // An operator of the opset has a body where no struct says what it computes.
    if (found.function == nullptr || (isKnown && (!found.isBuiltIn || names::findRow(def.op) != nullptr)))
        return {};
    const std::int64_t opset = importedOpset(found.function->opset_import());
    if (opset > names::kNewestOpset || opset < 0)
        return badInput(where, "a function of opset " + std::to_string(opset),
                        "at most " + std::to_string(names::kNewestOpset));
    HALFTONE_TRY(std::unique_ptr<::onnx::GraphProto> body,
                 bodyOf(
                     *m_context.functions, found, node, [&](int input) { return isReal(node.input(input)); },
                     *m_context.budget));
    if (body == nullptr)
        return {};
    const ::onnx::GraphProto &proto = *m_context.source->bodies.emplace_back(std::move(body));
    ReadContext context;
    context.source = m_context.source;
    context.dialect = opset == 0 ? m_context.dialect : &names::onnxDialect(static_cast<int>(opset));
    context.domains = m_context.domains;
    for (const auto &import : found.function->opset_import())
        context.domains.insert(domainOf(import.domain()));
    context.functions = m_context.functions;
    context.budget = m_context.budget;
    context.depth = m_context.depth + 1;
    context.stop = m_context.stop;
    static const ::onnx::GraphProto kNothing;
    GraphReader outside(context, kNothing, nullptr);
    auto graph = GraphReader(context, proto, &outside).read();
    if (!graph.ok()) {
        Error error = std::move(graph).error();
        error.where = where + ", in the function " + found.function->name() + ": " + error.where;
        return error;
    }
    def.subgraphs.push_back(std::make_shared<const graph::Graph>(std::move(graph).value()));
    def.attributes.set(names::kCallKey, def.op);
    if (!found.isBuiltIn)
        def.attributes.set(names::kOwnCallKey, def.op);
    if (isOnlyReplaced(found, node))
        def.attributes.set(names::kStandsKey, def.op);
    return {};
}

} // namespace halftone::io::onnx
