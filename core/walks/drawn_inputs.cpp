#include "core/walks/drawn_inputs.h"

#include "core/infer/known_shapes.h"
#include "core/infer/legal_range.h"
#include "core/infer/variables.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"
#include "core/walks/implied_inputs.h"

#include <array>
#include <cmath>
#include <numbers>
#include <random>

namespace halftone::walks {
namespace {

using tensor::DType;
using tensor::Shape;

constexpr std::array<std::int64_t, 13> kUsualSides{224, 32, 28, 64, 112, 100, 96, 128, 48, 24, 12, 299, 300};
constexpr std::int64_t kUsualLength = 16; ///< of an axis that is no side of a picture

/// Uniform in (0, 1).
double unit(std::mt19937_64 &random)
{
    return (static_cast<double>(random() >> 12) + 0.5) * std::ldexp(1.0, -52);
}

/// range  of integers; open: ones
Result<tensor::Tensor> drawn(const Shape &shape, DType type, const infer::LegalRange &range,
                             std::mt19937_64 &random)
{
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate({type, shape}));
    std::vector<float> values(buffer.tensor.elementCount(), 1);
    const bool isBounded = type != DType::Bool && !range.isOpen() && range.high >= range.low;
    if (!tensor::isFloat(type) && isBounded)
        for (float &value : values)
            value = static_cast<float>(
                range.low
                + static_cast<std::int64_t>(random()
                                            % (static_cast<std::uint64_t>(range.high - range.low) + 1)));
    if (tensor::isFloat(type))
        for (float &value : values)
            value = static_cast<float>(std::sqrt(-2 * std::log(unit(random)))
                                       * std::cos(2 * std::numbers::pi * unit(random)));
    tensor::narrow(values.data(), values.size(), type, buffer.bytes);
    return buffer.tensor;
}

class Drawing
{
public:
    Drawing(const graph::Model &model, std::size_t examples, const std::optional<io::Preprocess> &pictures)
        : m_graph(model.graph)
        , m_examples(static_cast<std::int64_t>(examples))
        , m_pictures(pictures ? *pictures : io::guessedPreprocess(model))
        , m_known(infer::withParameterShapes({}, model))
    {
        if (!pictures) // usual extents are tried instead of the one that is guessed
            m_pictures.height = m_pictures.width = std::nullopt;
    }

    Result<DrawnInputs> draw(const std::vector<infer::Variable> &variables);

private:
    /// Of the input of that name.
    Shape filled(const std::string &name, const Shape &shape, std::int64_t side) const;
    Result<infer::ShapeMap> shapesWith(const std::vector<graph::NodeId> &inputs, std::int64_t side) const;
    /// The shapes of all inputs, with the first side that contradicts nothing.
    Result<infer::ShapeMap> fittingShapes(const std::vector<graph::NodeId> &inputs, bool &isGuessed) const;

    const graph::Graph &m_graph;
    std::int64_t m_examples;
    io::Preprocess m_pictures;
    infer::KnownShapes m_known; ///< of parameters
};

/// `side`: of pictures. A shape of unknown rank is a picture's where pictures may be fed, else stays unknown.
Shape Drawing::filled(const std::string &name, const Shape &shape, std::int64_t side) const
{
    const bool isPicture = name == m_pictures.input;
    Shape full = shape.hasRank() ? shape : isPicture ? Shape::ofRank(4) : shape;
    const auto knownOr
        = [&](const std::optional<std::int64_t> &extent) { return isPicture ? extent.value_or(side) : side; };
    for (std::size_t axis = 0; axis < full.rank(); ++axis) {
        if (full[axis] != Shape::kUnknown)
            continue;
        const std::size_t rows = m_pictures.channelsLast ? 1 : 2; // the axis of the height
        const bool isChannels = full.rank() == 4 && axis == (m_pictures.channelsLast ? 3U : 1U);
        full[axis] = axis == 0 ? m_examples
            : isChannels       ? static_cast<std::int64_t>(m_pictures.channels())
            : full.rank() == 4 && !isCache(name)
            ? knownOr(axis == rows ? m_pictures.height : m_pictures.width)
            : isCache(name) ? 0
                            : kUsualLength;
    }
    return full;
}

Result<infer::ShapeMap> Drawing::shapesWith(const std::vector<graph::NodeId> &inputs, std::int64_t side) const
{
    // What follows from the parameters and from the model's own words goes before a guess.
    HALFTONE_TRY(infer::ShapeMap shapes, infer::inferShapes(m_graph, m_known));
    infer::KnownShapes known = m_known;
    for (const graph::NodeId id : inputs) {
        const Shape shape = filled(m_graph.node(id).name, shapes.of({id, 0, 0}), side);
        if (!shape.hasRank())
            continue;
        known[m_graph.node(id).name] = shape;
        HALFTONE_TRY(shapes, infer::inferShapes(m_graph, known));
    }
    return shapes;
}

Result<infer::ShapeMap> Drawing::fittingShapes(const std::vector<graph::NodeId> &inputs,
                                               bool &isGuessed) const
{
    isGuessed = false;
    HALFTONE_TRY(infer::ShapeMap said, infer::inferShapes(m_graph, m_known));
    for (const graph::NodeId id : inputs) {
        if (m_graph.node(id).name == m_pictures.input && m_pictures.height && m_pictures.width)
            continue; // told
        const Shape &shape = said.of({id, 0, 0});
        for (std::size_t axis = 1; axis < shape.rank(); ++axis)
            isGuessed = isGuessed || shape[axis] == Shape::kUnknown;
        isGuessed = isGuessed || !shape.hasRank();
    }
    std::optional<Error> first;
    for (const std::int64_t side : kUsualSides) {
        auto shapes = shapesWith(inputs, side);
        if (shapes.ok())
            return shapes;
        if (!first)
            first = std::move(shapes).error();
    }
    return unsupported(first->where, "none of the common input sizes works for this model: " + first->found,
                       "; attach a file with the inputs");
}

Result<DrawnInputs> Drawing::draw(const std::vector<infer::Variable> &variables)
{
    std::vector<graph::NodeId> inputs;
    for (graph::NodeId id = 0; id < m_graph.nodeCount(); ++id)
        if (m_graph.isVariable(id) && variables[id].isData)
            inputs.push_back(id);
    DrawnInputs result;
    HALFTONE_TRY(const infer::ShapeMap shapes, fittingShapes(inputs, result.isGuessed));
    std::mt19937_64 random(1);
    for (const graph::NodeId id : inputs) {
        const Shape &shape = shapes.of({id, 0, 0});
        if (!shape.isComplete())
            return unsupported(m_graph.node(id).name, "the shape of this input is unknown",
                               "; attach a file with the inputs");
        const bool isReal = tensor::isFloat(variables[id].type);
        const infer::LegalRange range = isReal ? infer::LegalRange() : infer::legalRange(m_graph, shapes, id);
        HALFTONE_TRY(tensor::Tensor values, drawn(shape, variables[id].type, range, random));
        result.arrays.push_back({m_graph.node(id).name, std::move(values)});
    }
    return result;
}

} // namespace

Result<DrawnInputs> drawInputs(const graph::Model &model, std::size_t examples,
                               const std::optional<io::Preprocess> &pictures)
{
    std::vector<policy::Warning> warnings;
    HALFTONE_TRY(const std::vector<infer::Variable> variables,
                 infer::classifyVariables(model, policy::Policy(), warnings));
    return Drawing(model, examples, pictures).draw(variables);
}

} // namespace halftone::walks
