#include "core/report/as_asked.h"

#include <array>
#include <cstdio>
#include <map>

namespace halftone::report {
namespace {

using kernels::StepKind;
using tensor::DType;

bool isCode(DType type)
{
    return type == DType::I8 || type == DType::U8;
}

/// Casts ask for no type to compute in.
std::size_t operatorsIn(const kernels::PlanStep &step)
{
    return askedOf(step) == DType::Unknown ? 0 : step.nodes.size() - step.casts;
}

/// Is the step the runtime's own?
bool isAdded(const kernels::PlanStep &step)
{
    return step.nodes.empty() || askedOf(step) == DType::Unknown;
}

/// Operators that ask for a type, and those of them that ran in it.
struct AskedCount
{
    std::size_t asked = 0;
    std::size_t ran = 0;
};

std::string percentOf(double part, double whole)
{
    std::array<char, 24> text{};
    std::snprintf(text.data(), text.size(), "%.1f %%", whole > 0 ? 100 * part / whole : 0.0);
    return text.data();
}

} // namespace

DType askedOf(const kernels::PlanStep &step)
{
    return step.asked == DType::Unknown && step.kind == StepKind::Compute ? step.dtype : step.asked;
}

bool ranAsAsked(const kernels::PlanStep &step)
{
    const DType asked = askedOf(step);
    return asked == step.dtype || asked == DType::Unknown || step.dtype == DType::Unknown
        || (isCode(step.dtype) && (isCode(asked) || tensor::isFloat(asked)));
}

AsAsked asAsked(const latency::Latency &latency)
{
    AsAsked result;
    double right = 0;
    double whole = 0;
    for (const latency::LayerLatency &layer : latency.layers) {
        const std::size_t operators = operatorsIn(layer.step);
        if (operators == 0)
            continue;
        const bool isRight = ranAsAsked(layer.step);
        result.all += operators;
        result.operators += isRight ? operators : 0;
        whole += layer.medianUs;
        right += isRight ? layer.medianUs : 0;
    }
    if (result.all > 0)
        result.operatorsShare = static_cast<double>(result.operators) / static_cast<double>(result.all);
    if (whole > 0)
        result.timeShare = right / whole;
    return result;
}

std::vector<std::string> asAskedTexts(const latency::Latency &latency)
{
    if (!latency.runtime)
        return {};
    std::map<DType, AskedCount> counts;
    for (const latency::LayerLatency &layer : latency.layers) {
        const std::size_t operators = operatorsIn(layer.step);
        if (operators == 0)
            continue;
        AskedCount &count = counts[askedOf(layer.step)];
        count.asked += operators;
        count.ran += ranAsAsked(layer.step) ? operators : 0;
    }
    std::vector<std::string> texts;
    std::size_t all = 0;
    for (const auto &[type, count] : counts) {
        all += count.asked;
        const std::string name(tensor::nameOf(type));
        if (count.ran < count.asked)
            texts.push_back(latency.runtime->name + " ran " + std::to_string(count.ran) + " of "
                            + std::to_string(count.asked) + ' ' + name + " operators in " + name);
    }
    if (texts.empty() && all > 0)
        texts.push_back(latency.runtime->name + " ran all " + std::to_string(all)
                        + " operators in the types of the model");
    return texts;
}

std::string asAskedLine(const latency::Latency &latency)
{
    std::string line;
    for (const std::string &text : asAskedTexts(latency))
        line += (line.empty() ? "" : "; ") + text;
    if (const std::string added = addedText(latency); !added.empty())
        line += (line.empty() ? "" : "; ") + added;
    return line;
}

std::string addedText(const latency::Latency &latency)
{
    double added = 0;
    double whole = 0;
    for (const latency::LayerLatency &layer : latency.layers) {
        whole += layer.medianUs;
        added += isAdded(layer.step) ? layer.medianUs : 0;
    }
    if (!latency.runtime || added <= 0)
        return {};
    return "casts and reorders that " + latency.runtime->name + " added take " + percentOf(added, whole)
        + " of the time";
}

} // namespace halftone::report
