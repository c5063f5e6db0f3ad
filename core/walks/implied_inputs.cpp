#include "core/walks/implied_inputs.h"

#include "core/infer/known_shapes.h"
#include "core/interpret/fed_types.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace halftone::walks {
namespace {

using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Names of the inputs that are implied and not given.
std::vector<graph::NodeId> missingInputs(const graph::Model &model, const std::vector<io::NamedTensor> &given)
{
    std::unordered_set<std::string_view> known;
    for (const io::NamedTensor &array : given)
        known.insert(array.name);
    std::vector<graph::NodeId> missing;
    for (graph::NodeId id = 0; id < model.graph.nodeCount(); ++id) {
        const std::string &name = model.graph.node(id).name;
        if (model.graph.isVariable(id) && isImplied(name) && !known.contains(name))
            missing.push_back(id);
    }
    std::erase_if(missing, [&](graph::NodeId id) {
        return std::ranges::any_of(model.parameters, [&](const tensor::Array &array) {
            return array.name == model.graph.node(id).name;
        });
    });
    return missing;
}

class Implying
{
public:
    Implying(const graph::Model &model, const std::vector<io::NamedTensor> &given)
        : m_graph(model.graph)
    {
        for (const io::NamedTensor &array : given) {
            const Shape &shape = array.tensor.shape();
            if (m_examples < 0 && shape.rank() > 0)
                m_examples = shape[0];
            const bool areTokens
                = shape.rank() == 2 && !tensor::isFloat(array.tensor.dtype()) && !isImplied(array.name);
            if (m_steps < 0 && areTokens)
                m_steps = shape[1];
            if (isCache(array.name) && shape.rank() > 1)
                m_past = std::max(m_past, shape[shape.rank() - 2]);
        }
    }

    /// Nothing for an input about which too little is known.
    Result<std::optional<Tensor>> valueOf(graph::NodeId id, const Shape &said) const
    {
        const std::string &name = m_graph.node(id).name;
        const std::optional<Shape> shape = isCache(name) ? emptyCache(said) : stepsOf(name);
        if (!shape)
            return std::optional<Tensor>();
        const DType declared = interpret::declaredInputType(m_graph, name);
        const DType type = declared != DType::Unknown ? declared : isCache(name) ? DType::F32 : DType::I64;
        HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({type, *shape}));
        std::vector<float> values(buffer.tensor.elementCount(), 1);
        for (std::size_t k = 0; name == kPositions && k < values.size(); ++k)
            values[k] = static_cast<float>(m_past + static_cast<std::int64_t>(k) % m_steps);
        tensor::narrow(values.data(), values.size(), type, buffer.bytes);
        return std::optional(buffer.tensor);
    }

private:
    std::optional<Shape> emptyCache(const Shape &said) const
    {
        Shape shape = said;
        std::size_t unknown = 0;
        for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
            if (shape[axis] != Shape::kUnknown)
                continue;
            shape[axis] = axis == 0 ? m_examples : 0;
            unknown += axis == 0 ? 0 : 1;
        }
        return shape.rank() > 1 && unknown == 1 && m_examples >= 0 ? std::optional(shape) : std::nullopt;
    }

    std::optional<Shape> stepsOf(std::string_view name) const
    {
        if (m_steps < 0)
            return std::nullopt;
        return Shape{m_examples, m_steps + (name == kMask ? m_past : 0)};
    }

    const graph::Graph &m_graph;
    std::int64_t m_examples = -1;
    std::int64_t m_steps = -1; ///< of the text
    std::int64_t m_past = 0; ///< steps of the caches that are given
};

void tellNotes(ImpliedInputs &implied)
{
    std::size_t caches = 0;
    for (const io::NamedTensor &array : implied.arrays) {
        if (array.name == kMask)
            implied.notes.emplace_back("input attention_mask is missing and taken as ones");
        else if (array.name == kPositions)
            implied.notes.emplace_back("input position_ids is missing and counted");
        else
            ++caches;
    }
    if (caches > 0)
        implied.notes.push_back("missing caches of past steps are taken as empty: " + std::to_string(caches));
}

} // namespace

bool isCache(std::string_view name)
{
    return name.starts_with(kCaches);
}

bool isImplied(std::string_view name)
{
    return name == kMask || name == kPositions || isCache(name);
}

Result<ImpliedInputs> impliedInputs(const graph::Model &model, const std::vector<io::NamedTensor> &given)
{
    ImpliedInputs implied;
    const std::vector<graph::NodeId> missing = missingInputs(model, given);
    if (missing.empty())
        return implied;
    const auto shapes = infer::inferShapes(model.graph, infer::withParameterShapes({}, model));
    if (!shapes.ok())
        return implied; // running the model says why
    const Implying implying(model, given);
    for (const graph::NodeId id : missing) {
        HALFTONE_TRY(const std::optional<Tensor> value, implying.valueOf(id, shapes.value().of({id, 0, 0})));
        if (value)
            implied.arrays.push_back({model.graph.node(id).name, *value});
    }
    tellNotes(implied);
    return implied;
}

} // namespace halftone::walks
