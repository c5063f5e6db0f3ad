#include "core/io/onnx/raised_function.h"

#include "core/base/text.h"
#include "core/dialect/onnx/onnx_dialect.h"
#include "core/dialect/onnx/op_info.h"
#include "core/io/onnx/domains.h"
#include "core/io/onnx/function_body.h"
#include "core/io/onnx/graph_reader.h"
#include "core/io/onnx/graph_writer.h"

#include <algorithm>
#include <string>

namespace halftone::io::onnx {
namespace {

namespace names = dialect::onnx;
using Attribute = ::onnx::AttributeProto;
using graph::NodeDef;

/// A function as a graph whose inputs and outputs have names and no types.
::onnx::GraphProto graphOf(const ::onnx::FunctionProto &function)
{
    ::onnx::GraphProto graph;
    graph.set_name(function.name());
    for (const std::string &input : function.input())
        graph.add_input()->set_name(input);
    for (const std::string &output : function.output())
        graph.add_output()->set_name(output);
    graph.mutable_node()->CopyFrom(function.node());
    return graph;
}

/// A file that says no more than what the function imports.
std::shared_ptr<Source> sourceOf(const Source &file, const ::onnx::FunctionProto &function)
{
    auto source = std::make_shared<Source>();
    source->file = file.file;
    source->external = file.external;
    source->model.mutable_opset_import()->CopyFrom(function.opset_import());
    return source;
}

/// Does every call of the function give the attribute, or has it a default?
bool isAlwaysGiven(const ::onnx::ModelProto &model, const ::onnx::FunctionProto &function,
                   const std::string &attribute)
{
    const auto isOf = [&attribute](const Attribute &one) {
        return one.name() == attribute && one.ref_attr_name().empty();
    };
    if (std::ranges::any_of(function.attribute_proto(), isOf))
        return true;
    bool isGiven = true;
    Functions::forEachCall(model, function, [&](const ::onnx::NodeProto &call) {
        isGiven = isGiven && std::ranges::any_of(call.attribute(), isOf);
    });
    return isGiven;
}

/// Raises one function, of which `source` is the file.
class FunctionRaise
{
public:
    FunctionRaise(const ::onnx::ModelProto &model, const ::onnx::FunctionProto &function, int from, int to)
        : m_model(model)
        , m_function(function)
        , m_from(names::onnxDialect(from))
        , m_to(names::onnxDialect(to))
    {
    }

    Result<::onnx::GraphProto> run(const std::shared_ptr<Source> &source) const
    {
        const ::onnx::GraphProto &proto
            = *source->bodies.emplace_back(std::make_unique<const ::onnx::GraphProto>(graphOf(m_function)));
        const Functions none{::onnx::ModelProto()};
        BodyBudget noBodies{0, 0};
        ReadContext context;
        context.source = source;
        context.dialect = &m_from;
        context.domains.emplace(kMainDomain);
        for (const auto &import : m_function.opset_import())
            context.domains.insert(domainOf(import.domain()));
        context.functions = &none;
        context.budget = &noBodies;
        static const ::onnx::GraphProto kNothing;
        GraphReader outside(context, kNothing, nullptr);
        HALFTONE_TRY(const graph::Graph graph, GraphReader(context, proto, &outside).read());
        HALFTONE_TRY(auto raised, m_from.raised(graph, tensor::DType::F32, names::opsetOf(m_to)));
        HALFTONE_CHECK(checkGiven(graph, raised->graph));
        ::onnx::GraphProto written;
        HALFTONE_CHECK(GraphWriter(raised->graph, nullptr).write(written));
        return written;
    }

private:
    /// Attributes that the call gives cannot be rewritten: they must be there, and mean the same, as they are.
    Result<void> checkGiven(const graph::Graph &before, const graph::Graph &after) const
    {
        for (graph::NodeId id = 0; id < before.nodeCount(); ++id) {
            const auto *const data = dynamic_cast<const NodeData *>(before.node(id).format.get());
            if (data == nullptr)
                continue;
            for (const Attribute &attribute : data->proto->attribute())
                if (!attribute.ref_attr_name().empty())
                    HALFTONE_CHECK(checkGiven(before.node(id), after.node(id), attribute));
            for (std::size_t k = 0; k < before.node(id).subgraphs.size(); ++k)
                HALFTONE_CHECK(checkGiven(*before.node(id).subgraphs[k], *after.node(id).subgraphs[k]));
        }
        return {};
    }

    Result<void> checkGiven(const NodeDef &before, const NodeDef &after, const Attribute &attribute) const
    {
        const auto refuse = [&](const char *what) {
            return unsupported(before.name,
                               before.op + " takes its attribute " + printable(attribute.name())
                                   + " from the call, " + what + " in opset "
                                   + std::to_string(names::opsetOf(m_to)),
                               "; export the model in that opset or inline its functions");
        };
        const auto *const old = static_cast<const names::OpInfo *>(m_from.findOp(before.op));
        const auto *const info = static_cast<const names::OpInfo *>(m_to.findOp(after.op));
        if (old == nullptr || info == nullptr || old == info)
            return {};
        const std::string *const kept = after.attributes.find(attribute.name());
        if (kept == nullptr || *kept != attribute.ref_attr_name())
            return refuse("which is expressed differently");
        const dialect::AttributeSpec *const was = old->attribute(attribute.name());
        if (const dialect::AttributeSpec *const spec = info->attribute(attribute.name()); spec != nullptr) {
            const bool isFlattened = after.attributes.find(names::kFlattenedKey) != nullptr;
            return isFlattened || was == nullptr || was->defaultValue == spec->defaultValue
                ? Result<void>()
                : refuse("which has a different meaning");
        }
        if (std::ranges::find(info->inputs, attribute.name(), &names::Slot::name) == info->inputs.end())
            return refuse("which does not exist");
        return isAlwaysGiven(m_model, m_function, attribute.ref_attr_name())
            ? Result<void>()
            : refuse("an input that some calls omit");
    }

    const ::onnx::ModelProto &m_model;
    const ::onnx::FunctionProto &m_function;
    const dialect::Dialect &m_from;
    const dialect::Dialect &m_to;
};

/// Functions have no initializers.
void addConstants(const ::onnx::GraphProto &graph, ::onnx::FunctionProto &function)
{
    for (const auto &tensor : graph.initializer()) {
        ::onnx::NodeProto &node = *function.add_node();
        node.set_op_type("Constant");
        node.set_name(tensor.name());
        node.add_output(tensor.name());
        Attribute &value = *node.add_attribute();
        value.set_name("value");
        value.set_type(Attribute::TENSOR);
        value.mutable_t()->CopyFrom(tensor);
        value.mutable_t()->clear_name();
    }
}

} // namespace

Result<void> raiseFunctions(const Source &source, int opset, ::onnx::ModelProto &model)
{
    const std::int64_t before = importedOpset(source.model.opset_import());
    if (before == 0 || before >= opset)
        return {};
    for (auto &function : *model.mutable_functions()) {
        const std::int64_t own = importedOpset(function.opset_import());
        if (own < 1 || own >= opset)
            continue;
        auto raised
            = FunctionRaise(model, function, static_cast<int>(own), opset).run(sourceOf(source, function));
        if (!raised.ok()) {
            Error error = std::move(raised).error();
            error.where = "function " + printable(function.name()) + ": " + error.where;
            return error;
        }
        ::onnx::GraphProto written = std::move(raised).value();
        function.clear_node();
        addConstants(written, function);
        for (auto &node : *written.mutable_node())
            function.add_node()->Swap(&node);
        for (auto &import : *function.mutable_opset_import())
            if (domainOf(import.domain()) == kMainDomain)
                import.set_version(opset);
    }
    return {};
}

} // namespace halftone::io::onnx
