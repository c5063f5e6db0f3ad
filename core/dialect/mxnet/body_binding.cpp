#include "core/dialect/mxnet/body_binding.h"

#include "core/dialect/mxnet/attribute_text.h"

#include <algorithm>
#include <array>

namespace halftone::dialect::mxnet {
namespace {

using Locations = std::vector<std::int64_t>;

BodyBinding unbound(const graph::NodeDef &node, std::size_t subgraph)
{
    BodyBinding binding{subgraph, {}, {}, true};
    const graph::Graph &body = *node.subgraphs[subgraph];
    for (graph::NodeId id = 0; id < body.nodeCount(); ++id) {
        if (body.isVariable(id))
            binding.variables.push_back(id);
    }
    binding.inputs.assign(binding.variables.size(), BodyBinding::kNone);
    return binding;
}

Result<Locations> locations(const graph::NodeDef &node, const char *key)
{
    const std::string *text = node.attributes.find(key);
    if (text == nullptr)
        return badInput(node.name, std::string(key) + " is missing", "the positions that tie " + node.op + " to its body");
    auto parsed = readTuple(*text);
    if (parsed.ok())
        return parsed;
    Error error = std::move(parsed).error();
    error.where = node.name + "." + key;
    return error;
}

Error misfit(const graph::NodeDef &node, std::int64_t location, std::size_t count, const char *what)
{
    return badInput(node.name, node.op + " ties its body to position " + std::to_string(location),
                    "one of the " + std::to_string(count) + " " + what);
}

/// Variable `at[i]` of the body is input `first + i` of the node.
Result<void> bindInOrder(const graph::NodeDef &node, const Locations &at, std::size_t &first, std::size_t inputCount, BodyBinding &binding)
{
    for (const std::int64_t location : at) {
        if (location < 0 || location >= static_cast<std::int64_t>(binding.inputs.size()))
            return misfit(node, location, binding.inputs.size(), "variables");
        if (first >= inputCount)
            return misfit(node, static_cast<std::int64_t>(first), inputCount, "inputs");
        binding.inputs[static_cast<std::size_t>(location)] = static_cast<std::uint32_t>(first++);
    }
    return {};
}

Result<BodyBinding> bindForEach(const graph::NodeDef &node, std::size_t inputCount)
{
    BodyBinding binding = unbound(node, 0);
    std::size_t next = 0;
    for (const char *key : {"in_data_locs", "in_state_locs", "remain_locs"}) {
        HALFTONE_TRY(const Locations at, locations(node, key));
        HALFTONE_CHECK(bindInOrder(node, at, next, inputCount, binding));
    }
    return binding;
}

/// Variable i of the body is input `at[i]` of the node.
Result<BodyBinding> bindByInput(const graph::NodeDef &node, std::size_t subgraph, const char *key, std::size_t inputCount)
{
    BodyBinding binding = unbound(node, subgraph);
    HALFTONE_TRY(const Locations at, locations(node, key));
    for (std::size_t i = 0; i < std::min(at.size(), binding.inputs.size()); ++i) {
        if (at[i] < 0 || at[i] >= static_cast<std::int64_t>(inputCount))
            return misfit(node, at[i], inputCount, "inputs");
        binding.inputs[i] = static_cast<std::uint32_t>(at[i]);
    }
    return binding;
}

Result<std::vector<BodyBinding>> bindBranches(const graph::NodeDef &node, std::span<const char *const> keys, std::size_t inputCount)
{
    if (node.subgraphs.size() != keys.size())
        return badInput(node.name, node.op + " has " + std::to_string(node.subgraphs.size()) + " bodies", std::to_string(keys.size()));
    std::vector<BodyBinding> bindings;
    for (std::size_t k = 0; k < keys.size(); ++k) {
        HALFTONE_TRY(BodyBinding binding, bindByInput(node, k, keys[k], inputCount));
        binding.givesOutputs = k > 0; // the first one is the condition
        bindings.push_back(std::move(binding));
    }
    return bindings;
}

} // namespace

Result<std::vector<BodyBinding>> bindBodies(const graph::NodeDef &node, std::size_t inputCount)
{
    static constexpr std::array kLoop{"cond_input_locs", "func_input_locs"};
    static constexpr std::array kCond{"cond_input_locs", "then_input_locs", "else_input_locs"};
    if (node.subgraphs.empty())
        return std::vector<BodyBinding>();
    if (node.op == "_while_loop")
        return bindBranches(node, kLoop, inputCount);
    if (node.op == "_cond")
        return bindBranches(node, kCond, inputCount);
    if (node.op == "_foreach") {
        HALFTONE_TRY(BodyBinding binding, bindForEach(node, inputCount));
        return std::vector{std::move(binding)};
    }
    BodyBinding binding = unbound(node, 0);
    for (std::size_t i = 0; i < std::min(inputCount, binding.inputs.size()); ++i)
        binding.inputs[i] = static_cast<std::uint32_t>(i);
    return std::vector{std::move(binding)};
}

} // namespace halftone::dialect::mxnet
