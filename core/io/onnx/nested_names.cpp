#include "core/io/onnx/nested_names.h"

#include <unordered_set>

namespace halftone::io::onnx {
namespace {

using DefinedNames = std::unordered_set<std::string>;

/// Of the graph and of the bodies in it. Protobuf has bounded how deep these are nested.
void collect(const ::onnx::GraphProto &graph, DefinedNames &names)
{
    for (const auto &input : graph.input())
        names.insert(input.name());
    for (const auto &tensor : graph.initializer())
        names.insert(tensor.name());
    for (const auto &tensor : graph.sparse_initializer())
        names.insert(tensor.values().name());
    for (const auto &node : graph.node()) {
        names.insert(node.output().begin(), node.output().end());
        for (const auto &attribute : node.attribute())
            if (attribute.has_g())
                collect(attribute.g(), names);
    }
    names.erase(std::string());
}

void prefixDefined(::onnx::GraphProto &graph, const DefinedNames &names, const std::string &prefix)
{
    const auto renamed = [&](const std::string &name) { return names.contains(name) ? prefix + name : name; };
    const auto renameAll = [&renamed](auto &messages) {
        for (auto &message : messages)
            message.set_name(renamed(message.name()));
    };
    renameAll(*graph.mutable_input());
    renameAll(*graph.mutable_initializer());
    renameAll(*graph.mutable_output());
    renameAll(*graph.mutable_value_info());
    for (auto &tensor : *graph.mutable_sparse_initializer())
        tensor.mutable_values()->set_name(renamed(tensor.values().name()));
    for (auto &node : *graph.mutable_node()) {
        if (!node.name().empty())
            node.set_name(prefix + node.name());
        for (std::string &input : *node.mutable_input())
            input = renamed(input);
        for (std::string &output : *node.mutable_output())
            output = renamed(output);
        for (auto &attribute : *node.mutable_attribute())
            if (attribute.has_g())
                prefixDefined(*attribute.mutable_g(), names, prefix);
    }
}

} // namespace

void prefixNested(::onnx::GraphProto &graph, const std::string &prefix)
{
    for (auto &node : *graph.mutable_node())
        for (auto &attribute : *node.mutable_attribute()) {
            if (!attribute.has_g())
                continue;
            DefinedNames names;
            collect(attribute.g(), names);
            prefixDefined(*attribute.mutable_g(), names, prefix);
        }
}

} // namespace halftone::io::onnx
