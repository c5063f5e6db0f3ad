#include "core/io/mxnet/symbol_wiring.h"

#include "core/base/text.h"

namespace halftone::io {
namespace {

std::string quoted(const std::string &name)
{
    return "\"" + printable(name, 100) + "\"";
}

/// What is wrong with a reference from node `user` to node `id`; empty when nothing is.
std::string wrongReference(const RawGraph &graph, std::size_t user, std::uint32_t id)
{
    if (id < user)
        return {};
    if (id >= graph.nodes.size())
        return "node " + std::to_string(id) + " of " + std::to_string(graph.nodes.size());
    if (id == user)
        return "node " + std::to_string(id) + ", which is " + quoted(graph.nodes[user].def->name) + " itself";
    return "node " + std::to_string(id) + ", which comes after " + quoted(graph.nodes[user].def->name)
        + " (a cycle, or out of order)";
}

Result<void> checkReferences(const RawGraph &graph, const std::string &path, std::size_t id)
{
    const RawNode &node = graph.nodes[id];
    const std::string expected = "the id of an earlier node";
    const auto inputs = graph.inputsOf(node);
    if (node.def->isVariable() && !inputs.empty())
        return badInput(nodePath(path, id) + ".inputs", "inputs of the variable " + quoted(node.def->name),
                        "none");
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (std::string wrong = wrongReference(graph, id, inputs[i].node); !wrong.empty())
            return badInput(nodePath(path, id) + ".inputs[" + std::to_string(i) + "]", std::move(wrong),
                            expected);
    }
    return {};
}

Result<void> checkControlDependencies(const RawGraph &graph, const std::string &path)
{
    for (const auto &[id, dependencies] : graph.controlDependencies) {
        for (std::size_t i = 0; i < dependencies.size(); ++i) {
            if (std::string wrong = wrongReference(graph, id, dependencies[i]); !wrong.empty()) {
                return badInput(nodePath(path, id) + ".control_deps[" + std::to_string(i) + "]",
                                std::move(wrong), "the id of an earlier node");
            }
        }
    }
    return {};
}

Result<void> checkHeads(const RawGraph &graph, const std::string &path)
{
    if (graph.heads.empty())
        return badInput(path + "heads", "no outputs", "at least one");
    for (std::size_t i = 0; i < graph.heads.size(); ++i) {
        if (graph.heads[i].node >= graph.nodes.size()) {
            return badInput(path + "heads[" + std::to_string(i) + "]",
                            "node " + std::to_string(graph.heads[i].node) + " of "
                                + std::to_string(graph.nodes.size()),
                            "the id of a node");
        }
    }
    return {};
}

Result<void> checkArgNodes(const RawGraph &graph, const std::string &path)
{
    for (std::size_t i = 0; i < graph.argNodes.size(); ++i) {
        const std::uint32_t id = graph.argNodes[i];
        const std::string where = path + "arg_nodes[" + std::to_string(i) + "]";
        if (id >= graph.nodes.size())
            return badInput(where, "node " + std::to_string(id) + " of " + std::to_string(graph.nodes.size()),
                            "the id of a variable");
        if (const graph::NodeDef &def = *graph.nodes[id].def; !def.isVariable())
            return badInput(where, "node " + std::to_string(id) + ", the operator " + quoted(def.name),
                            "the id of a variable");
    }
    return {};
}

} // namespace

std::string nodePath(const std::string &path, std::size_t node)
{
    return path + "nodes[" + std::to_string(node) + "]";
}

Result<void> checkWiring(const RawGraph &graph, const std::string &path)
{
    for (std::size_t id = 0; id < graph.nodes.size(); ++id)
        HALFTONE_CHECK(checkReferences(graph, path, id));
    HALFTONE_CHECK(checkControlDependencies(graph, path));
    HALFTONE_CHECK(checkHeads(graph, path));
    return checkArgNodes(graph, path);
}

} // namespace halftone::io
