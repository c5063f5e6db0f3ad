#include "core/latency/model_inputs.h"

#include "core/graph/traverse.h"
#include "core/infer/legal_range.h"
#include "core/kernels/buffer.h"
#include "core/latency/latency.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace halftone::latency {
namespace {

using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

/// Where nobody says what is legal, codes are any, and all else is 1: a mask that masks nothing, a condition that holds.
infer::LegalRange rangeFor(const infer::TypedModel &typed, NodeId variable, DType type)
{
    const infer::LegalRange range = infer::legalRange(typed.model.graph, typed.shapes, variable);
    if (range.isOpen() && type == DType::U8)
        return {0, 255};
    if (range.isOpen() && type == DType::I8)
        return {-127, 127};
    if (range.isOpen() || type == DType::Bool)
        return {1, 1};
    return {range.low, std::max(range.low, range.high)};
}

/// Elements of `from` over and over.
void repeatInto(std::span<const std::byte> from, std::span<std::byte> to)
{
    for (std::size_t at = 0; !from.empty() && at < to.size(); at += from.size())
        std::memcpy(to.data() + at, from.data(), std::min(from.size(), to.size() - at));
}

kernels::TensorDesc descOf(const infer::TypedModel &typed, NodeId variable)
{
    return {typed.types.at(variable, 0), typed.shapes.byNode[variable][0]};
}

} // namespace

Result<void> takeInputs(infer::TypedModel &typed, const GivenInputs &given)
{
    const auto variables = graph::variablesByName(typed.model.graph);
    for (const auto &[name, array] : given) {
        const auto found = variables.find(name);
        if (found == variables.end() || array.elementCount() == 0)
            continue;
        const kernels::TensorDesc desc = descOf(typed, found->second);
        if (desc.dtype == DType::Unknown || !desc.shape.isComplete() || array.dtype() == DType::Unknown)
            continue;
        HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc));
        Tensor values = array;
        if (array.dtype() != desc.dtype) {
            HALFTONE_TRY(values, kernels::converted(array, desc.dtype));
        }
        repeatInto(values.bytes(), {buffer.bytes, buffer.tensor.byteCount()});
        typed.fed.insert_or_assign(name, buffer.tensor);
    }
    return {};
}

Result<Tensor> guessedInput(const infer::TypedModel &typed, NodeId variable, Guess guess)
{
    const kernels::TensorDesc desc = descOf(typed, variable);
    HALFTONE_TRY(const kernels::Buffer buffer, kernels::allocate(desc));
    std::vector<double> values(buffer.tensor.elementCount(), 0.0);
    if (tensor::isFloat(desc.dtype)) {
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] = static_cast<double>(k * 40503 % 65536) / 65536;
    } else if (guess == Guess::Legal) {
        const infer::LegalRange range = rangeFor(typed, variable, desc.dtype);
        const auto count = static_cast<std::uint64_t>(range.high - range.low) + 1;
        std::mt19937_64 random(1);
        for (double &value : values)
            value = static_cast<double>(range.low + static_cast<std::int64_t>(random() % count));
    }
    tensor::convert(DType::F64, reinterpret_cast<const std::byte *>(values.data()), values.size(), desc.dtype,
                    buffer.bytes);
    return buffer.tensor;
}

Result<void> feedPlan(kernels::LatencyPlan &plan, const infer::TypedModel &typed)
{
    fillInputs(plan, 1);
    const auto variables = graph::variablesByName(typed.model.graph);
    std::vector<std::size_t> guesses;
    for (std::size_t k = 0; k < plan.inputs().size(); ++k) {
        const kernels::PlanPort &port = plan.inputs()[k];
        if (const auto fed = typed.fed.find(port.name); fed != typed.fed.end()) {
            repeatInto(fed->second.bytes(), plan.input(k));
        } else if (const auto found = variables.find(port.name);
                   found != variables.end() && !tensor::isFloat(port.desc.dtype)) {
            HALFTONE_TRY(const Tensor guess, guessedInput(typed, found->second, Guess::Legal));
            repeatInto(guess.bytes(), plan.input(k));
            guesses.push_back(k);
        }
    }
    if (guesses.empty())
        return {};
    auto ran = plan.run();
    if (ran.ok() || ran.error().code != Errc::BadInput)
        return ran;
    for (const std::size_t k : guesses)
        std::ranges::fill(plan.input(k), std::byte{0});
    return {};
}

} // namespace halftone::latency
