#include "core/io/onnx/built_in_functions.h"

#include "core/base/json.h"
#include "core/base/resource.h"
#include "core/base/text.h"

#include <cassert>
#include <string>

namespace halftone::io::onnx {
namespace {

using Json = OrderedJson;

constexpr int kOpset = 23; ///< of the operators that they are said by

/// "a, , b": what stands between commas; nothing where something is left out.
template <class Add>
void forEachName(std::string_view text, const Add &add)
{
    while (!trimmed(text).empty()) {
        const std::size_t comma = text.find(',');
        add(std::string(trimmed(text.substr(0, comma))));
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    }
}

void addNodes(const Json &lines, const Json &bodies,
              ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes);

/// A graph of a Scan: what it reads beyond its inputs are values of the function.
void addBody(const Json &json, const Json &bodies, ::onnx::GraphProto &body)
{
    body.set_name("body");
    forEachName(json["inputs"].get<std::string>(),
                [&](std::string input) { body.add_input()->set_name(std::move(input)); });
    forEachName(json["outputs"].get<std::string>(),
                [&](std::string output) { body.add_output()->set_name(std::move(output)); });
    addNodes(json["nodes"], bodies, *body.mutable_node());
}

/// "axis=-1", "axis=@axis" for an attribute of the function, "mode='text'", "perm=[0,2,1]", "body={step}" for one of its bodies; numbers
/// with a point are real.
void addAttribute(std::string_view text, const Json &bodies, ::onnx::AttributeProto &attribute)
{
    using Attribute = ::onnx::AttributeProto;
    const std::size_t sign = text.find('=');
    const std::string_view value = text.substr(sign + 1);
    attribute.set_name(std::string(text.substr(0, sign)));
    if (value.starts_with('@')) {
        attribute.set_ref_attr_name(std::string(value.substr(1)));
    } else if (value.starts_with('\'')) {
        attribute.set_type(Attribute::STRING);
        attribute.set_s(std::string(value.substr(1, value.size() - 2)));
    } else if (value.starts_with('{')) {
        attribute.set_type(Attribute::GRAPH);
        addBody(bodies.at(std::string(value.substr(1, value.size() - 2))), bodies, *attribute.mutable_g());
    } else if (const Json json = parseOrdered(value); json.is_array()) {
        attribute.set_type(Attribute::INTS);
        for (const Json &entry : json)
            attribute.add_ints(entry.get<std::int64_t>());
    } else if (json.is_number_float()) {
        attribute.set_type(Attribute::FLOAT);
        attribute.set_f(json.get<float>());
    } else {
        attribute.set_type(Attribute::INT);
        attribute.set_i(json.get<std::int64_t>());
    }
}

/// "words: a, b = Operator(c, d) key=value …".
void addNode(std::string_view text, const Json &bodies, ::onnx::NodeProto &node)
{
    if (const std::size_t colon = text.find(": "); colon != std::string_view::npos) {
        node.set_doc_string(std::string(text.substr(0, colon)));
        text = text.substr(colon + 2);
    }
    const std::size_t sign = text.find(" = ");
    const std::size_t open = text.find('(');
    if (sign == std::string_view::npos) {
        node.set_op_type(std::string(text));
        return;
    }
    forEachName(text.substr(0, sign), [&node](std::string name) { node.add_output(std::move(name)); });
    std::string_view op = text.substr(sign + 3, open - sign - 3);
    if (const std::size_t dot = op.rfind('.'); dot != std::string_view::npos) {
        node.set_domain(std::string(op.substr(0, dot)));
        op = op.substr(dot + 1);
    }
    node.set_op_type(std::string(op));
    const std::size_t close = text.find(')');
    forEachName(text.substr(open + 1, close - open - 1),
                [&node](std::string name) { node.add_input(std::move(name)); });
    text = text.substr(close + 1);
    while (!(text = trimmed(text)).empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        addAttribute(word, bodies, *node.add_attribute());
        text = text.substr(word.size());
    }
}

void addNodes(const Json &lines, const Json &bodies,
              ::google::protobuf::RepeatedPtrField<::onnx::NodeProto> &nodes)
{
    for (const Json &line : lines)
        addNode(line.get_ref<const std::string &>(), bodies, *nodes.Add());
}

::onnx::FunctionProto read(std::string_view name, const Json &json)
{
    ::onnx::FunctionProto function;
    const std::size_t dot = name.rfind('.');
    function.set_domain(dot == std::string_view::npos ? std::string() : std::string(name.substr(0, dot)));
    function.set_name(std::string(dot == std::string_view::npos ? name : name.substr(dot + 1)));
    function.add_opset_import()->set_version(kOpset);
    auto &import = *function.add_opset_import(); // what its bodies call
    import.set_domain("halftone");
    import.set_version(1);
    forEachName(json["inputs"].get<std::string>(),
                [&](std::string input) { function.add_input(std::move(input)); });
    forEachName(json["outputs"].get<std::string>(),
                [&](std::string output) { function.add_output(std::move(output)); });
    forEachName(json.value("attributes", std::string()), [&](const std::string &text) {
        addAttribute(text, Json(), *function.add_attribute_proto());
    });
    addNodes(json["nodes"], json.value("bodies", Json()), *function.mutable_node());
    return function;
}

} // namespace

const std::vector<::onnx::FunctionProto> &builtInFunctions()
{
    static const auto kFunctions = [] {
        std::vector<::onnx::FunctionProto> functions;
        const Json json = parseOrdered(resource("onnx/functions.json"));
        assert(json.is_object() && "functions.json does not parse");
        for (const auto &[name, function] : json["functions"].items())
            functions.push_back(read(name, function));
        return functions;
    }();
    return kFunctions;
}

} // namespace halftone::io::onnx
