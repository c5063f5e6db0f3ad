#include "core/quantize/pair_norm.h"

#include "core/dialect/dialect.h"

#include <cmath>
#include <cstring>

namespace halftone::quantize {
namespace {

tensor::Tensor tensorOf(const tensor::Shape &shape, const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    if (!values.empty())
        std::memcpy(bytes.data(), values.data(), bytes.size());
    return tensor::Tensor::owning(tensor::DType::F32, shape, std::move(bytes));
}

} // namespace

WeightsAndBias withBatchNorm(const WeightsAndBias &values, const graph::Graph &graph, graph::NodeId norm,
                             const Constants &constants)
{
    const auto op = dialect::of(graph).read(graph.node(norm));
    const double epsilon = op.ok() ? op.value().getIf<ops::BatchNormalization>()->epsilon : 0;
    const auto parameter
        = [&](std::size_t input) { return constants.at(graph.inputs(norm)[input].node).values<float>(); };
    const std::vector<float> gamma = parameter(1);
    const std::vector<float> beta = parameter(2);
    const std::vector<float> mean = parameter(3);
    const std::vector<float> variance = parameter(4);
    std::vector<float> weights = values.weights.values<float>();
    const bool hasBias = values.bias.dtype() == tensor::DType::F32;
    std::vector<float> bias = hasBias ? values.bias.values<float>() : std::vector<float>(gamma.size());
    const std::size_t inner = gamma.empty() ? 0 : weights.size() / gamma.size();
    for (std::size_t c = 0; c < gamma.size(); ++c) {
        const double factor = double{gamma[c]} / std::sqrt(double{variance[c]} + epsilon);
        for (std::size_t k = c * inner; k < (c + 1) * inner; ++k)
            weights[k] = static_cast<float>(double{weights[k]} * factor);
        bias[c] = static_cast<float>(double{beta[c]} + factor * (double{bias[c]} - double{mean[c]}));
    }
    const tensor::Shape channels{static_cast<std::int64_t>(gamma.size())};
    return {tensorOf(values.weights.shape(), weights), tensorOf(channels, bias)};
}

} // namespace halftone::quantize
