#include "core/infer/input_patterns.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/policy/pattern.h"

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace halftone::infer {
namespace {

bool isPatternText(std::string_view text)
{
    return text.size() >= 2 && text.front() == '/' && text.back() == '/';
}

std::vector<std::string_view> inputNames(const graph::Model &model)
{
    std::unordered_set<std::string_view> held;
    for (const tensor::Array &array : model.parameters)
        held.insert(dialect::variableOf(model.graph, array.name));
    std::vector<std::string_view> names;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id)
        if (model.graph.isVariable(id) && !held.contains(model.graph.node(id).name))
            names.push_back(model.graph.node(id).name);
    return names;
}

} // namespace

Result<void> expandInputTypes(const graph::Model &model, policy::Policy &policy)
{
    std::map<std::string, tensor::DType> types;
    for (const auto &[name, type] : policy.inputDtypes)
        if (!isPatternText(name))
            types.emplace(name, type);
    if (types.size() == policy.inputDtypes.size())
        return {};
    const std::vector<std::string_view> inputs = inputNames(model);
    for (const auto &[name, type] : policy.inputDtypes) {
        if (!isPatternText(name))
            continue;
        auto pattern = policy::Pattern::compile(std::string_view(name).substr(1, name.size() - 2), 1);
        if (!pattern.ok())
            return inField(std::move(pattern).error(), Field::InputType);
        std::size_t found = 0;
        for (const std::string_view input : inputs)
            if (pattern.value().matches(input)) {
                types.emplace(input, type);
                ++found;
            }
        if (found == 0)
            return badInput(Field::InputType, '"' + printable(name, 60) + "\" matches no input",
                            "a pattern for one of: "
                                + joined(std::vector<std::string>(inputs.begin(), inputs.end()), 4));
    }
    policy.inputDtypes = std::move(types);
    return {};
}

} // namespace halftone::infer
