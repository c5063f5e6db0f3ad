#include "core/dialect/dialect.h"
#include "core/io/pictures/preprocess.h"

#include <algorithm>

namespace halftone::io {
namespace {

constexpr std::int64_t kUsualSide = 224;

const tensor::Array *arrayOf(const graph::Model &model, std::string_view variable)
{
    const auto found = std::ranges::find(model.parameters, variable, [&model](const tensor::Array &array) {
        return dialect::variableOf(model.graph, array.name);
    });
    return found == model.parameters.end() ? nullptr : &*found;
}

/// The weights of the first convolution tell its channels: (out, in, height, width).
std::optional<std::int64_t> firstChannels(const graph::Model &model)
{
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        for (const graph::Entry &input : model.graph.inputs(id)) {
            const tensor::Array *const array = model.graph.isVariable(input.node)
                ? arrayOf(model, model.graph.node(input.node).name)
                : nullptr;
            if (array && array->shape.rank() == 4)
                return array->shape[1];
        }
    }
    return std::nullopt;
}

/// What the input says of itself: extents that are not open, and where the channels stand.
void takeDeclared(const graph::Model &model, Preprocess &rules)
{
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        if (!model.graph.isVariable(id) || model.graph.node(id).name != rules.input)
            continue;
        const tensor::Shape shape = dialect::of(model.graph).declaredShape(model.graph, model.graph.node(id));
        if (shape.rank() != 4)
            return;
        const auto isChannels = [&shape](std::size_t axis) { return shape[axis] == 1 || shape[axis] == 3; };
        const auto take = [&shape](std::size_t axis, std::optional<std::int64_t> &extent) {
            if (shape[axis] > 0)
                extent = shape[axis];
        };
        rules.channelsLast = isChannels(3) && !isChannels(1);
        if (shape[rules.channelsLast ? 3 : 1] == 1)
            rules.color = Preprocess::Color::Gray;
        take(0, rules.batch);
        take(rules.channelsLast ? 1 : 2, rules.height);
        take(rules.channelsLast ? 2 : 3, rules.width);
        return;
    }
}

} // namespace

std::vector<std::string> pictureInputs(const graph::Model &model)
{
    std::vector<std::string> names;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (model.graph.isVariable(id) && !name.ends_with("label") && !arrayOf(model, name))
            names.push_back(name);
    }
    return names;
}

Preprocess guessedPreprocess(const graph::Model &model)
{
    Preprocess rules;
    const std::vector<std::string> inputs = pictureInputs(model);
    rules.input = inputs.empty() ? "data" : inputs.front();
    rules.height = rules.width = kUsualSide;
    if (firstChannels(model) == 1)
        rules.color = Preprocess::Color::Gray;
    takeDeclared(model, rules);
    rules.mean.assign(rules.channels(), 0);
    rules.scale.assign(rules.channels(), 1.0 / 255);
    return rules;
}

} // namespace halftone::io
