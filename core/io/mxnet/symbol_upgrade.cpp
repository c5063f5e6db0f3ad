#include "core/io/mxnet/symbol_upgrade.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace halftone::io {
namespace {

namespace mx = dialect::mxnet;

constexpr std::array<std::string_view, 5> kOnceBareKeys{"ctx_group", "lr_mult", "wd_mult", "force_mirroring",
                                                        "mirror_stage"};
/// Operators with named inputs have fewer; a longer list is not searched for every key, nor made up of
/// variables.
constexpr std::size_t kMostNamedInputs = 64;

std::string hidden(std::string_view key)
{
    return "__" + std::string(key) + "__";
}

/// The input variable that `name` ("weight") stands for.
graph::NodeDef *inputVariable(const RawGraph &graph, const RawNode &node, std::string_view name)
{
    const auto inputs = graph.inputsOf(node);
    for (std::size_t i = 0; i < std::min(inputs.size(), kMostNamedInputs); ++i) {
        if (mx::inputName(*node.op, node.def->attributes, i) == name) {
            graph::NodeDef &input = *graph.nodes[inputs[i].node].def;
            return input.isVariable() ? &input : nullptr;
        }
    }
    return nullptr;
}

void hideKeys(const RawGraph &graph, const RawNode &node)
{
    graph::Attributes &attributes = node.def->attributes;
    for (const std::string_view key : kOnceBareKeys) {
        if (const std::string *const value = attributes.find(key)) {
            attributes.set(hidden(key), std::string(*value));
            attributes.erase(key);
        }
    }
    if (node.op == nullptr)
        return;
    std::vector<std::string> moved;
    for (const auto &[name, value] : attributes) {
        for (const std::string_view key : kOnceBareKeys) {
            if (name.size() <= key.size() + 1 || !name.ends_with(key)
                || name[name.size() - key.size() - 1] != '_')
                continue;
            const std::string_view input = std::string_view(name).substr(0, name.size() - key.size() - 1);
            if (graph::NodeDef *const variable = inputVariable(graph, node, input)) {
                variable->attributes.set(hidden(key), value);
                moved.push_back(name);
            }
        }
    }
    for (const std::string &name : moved)
        attributes.erase(name);
}

/// How many variables upgrade 2 makes for a node.
std::size_t missingInputs(const RawNode &node)
{
    if (node.op == nullptr)
        return 0;
    const auto count = mx::inputCount(*node.op, node.def->attributes);
    return count && *count > node.inputCount && *count <= kMostNamedInputs ? *count - node.inputCount : 0;
}

/// Copies a graph node by node while variables are put in between, and keeps count of where the old nodes
/// went.
class WithVariables
{
public:
    explicit WithVariables(RawGraph source)
        : m_source(std::move(source))
    {
    }

    RawGraph made()
    {
        for (std::size_t id = 0; id < m_source.nodes.size(); ++id)
            copy(id);
        for (graph::Entry &head : m_source.heads)
            head.node = m_newIds[head.node];
        m_made.heads = std::move(m_source.heads);
        m_made.metadata = std::move(m_source.metadata);
        return std::move(m_made);
    }

private:
    void copy(std::size_t id)
    {
        RawNode node = m_source.nodes[id];
        std::vector<graph::Entry> inputs;
        for (graph::Entry entry : m_source.inputsOf(node)) {
            entry.node = m_newIds[entry.node];
            inputs.push_back(entry);
        }
        for (std::size_t missing = missingInputs(node); missing > 0; --missing) {
            const std::string name = mx::inputName(*node.op, node.def->attributes, inputs.size());
            auto def = std::make_shared<graph::NodeDef>();
            nameOperator(*def, std::string(mx::kVariableOp));
            def->name = node.def->name + "_" + name;
            def->attributes = node.def->attributes;
            inputs.push_back({static_cast<graph::NodeId>(m_made.nodes.size()), 0, 0});
            m_made.nodes.push_back({std::move(def), 0, 0, nullptr});
        }
        node.firstInput = static_cast<std::uint32_t>(m_made.inputs.size());
        node.inputCount = static_cast<std::uint32_t>(inputs.size());
        m_made.inputs.insert(m_made.inputs.end(), inputs.begin(), inputs.end());
        m_newIds.push_back(static_cast<std::uint32_t>(m_made.nodes.size()));
        moveAside(id);
        m_made.nodes.push_back(std::move(node));
    }

    /// What is kept beside the nodes, under the new id.
    void moveAside(std::size_t id)
    {
        if (const auto found = m_source.controlDependencies.find(id);
            found != m_source.controlDependencies.end()) {
            for (std::uint32_t &dependency : found->second)
                dependency = m_newIds[dependency];
            m_made.controlDependencies[m_made.nodes.size()] = std::move(found->second);
        }
        if (const auto found = m_source.subgraphs.find(id); found != m_source.subgraphs.end())
            m_made.subgraphs[m_made.nodes.size()] = std::move(found->second);
    }

    RawGraph m_source;
    RawGraph m_made;
    std::vector<std::uint32_t> m_newIds;
};

/// MXNet's initial value for that input, where it gives one.
std::optional<std::string> initialValue(const RawNode &node, std::size_t input)
{
    if (node.op->name == "BatchNorm" && input == 3)
        return R"(["zero", {}])";
    if (node.op->name == "BatchNorm" && input == 4)
        return R"(["one", {}])";
    if (node.op->name == "LeakyReLU" && input == 1)
        return R"(["Constant", {"value": 0.25}])";
    return std::nullopt;
}

void hintInitialValues(const RawGraph &graph, const RawNode &node)
{
    const auto inputs = graph.inputsOf(node);
    for (std::size_t i = 0; i < std::min(inputs.size(), kMostNamedInputs); ++i) {
        graph::NodeDef &variable = *graph.nodes[inputs[i].node].def;
        const auto value = initialValue(node, i);
        if (value && variable.isVariable() && variable.attributes.find("__init__") == nullptr)
            variable.attributes.set("__init__", *value);
    }
}

void dropDefaultAxis(const RawNode &node)
{
    if (node.op->name != "argmax" && node.op->name != "argmin")
        return;
    if (const std::string *const axis = node.def->attributes.find("axis"); axis != nullptr && *axis == "-1")
        node.def->attributes.erase("axis");
}

} // namespace

void upgrade(RawGraph &graph, std::int64_t version)
{
    if (version >= kCurrentVersion)
        return;
    for (const RawNode &node : graph.nodes)
        hideKeys(graph, node);
    if (version < 900
        && std::ranges::any_of(graph.nodes, [](const RawNode &node) { return missingInputs(node) > 0; }))
        graph = WithVariables(std::move(graph)).made();
    for (const RawNode &node : graph.nodes) {
        if (node.op != nullptr && version < 904)
            hintInitialValues(graph, node);
        if (node.op != nullptr && version < 905)
            dropDefaultAxis(node);
    }
}

} // namespace halftone::io
