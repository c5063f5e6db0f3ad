#include "core/mixed/chip_warnings.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"
#include "core/mixed/chip_clock.h"
#include "core/mixed/node_arithmetic.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>
#include <unordered_set>

namespace halftone::mixed {
namespace {

using graph::NodeId;
using hardware::Support;
using hardware::Unit;
using tensor::DType;
using tensor::Shape;

/// "1.52"
std::string twoDigits(double value)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

std::string typeName(DType type)
{
    return std::string(tensor::nameOf(type));
}

/// "int8 and bfloat16", those in which convolutions or products are faster than in float32, fastest first.
std::string fastTypes(const hardware::Description &chip)
{
    std::vector<std::string> names;
    for (const hardware::Number number : chip.fastNumbers()) {
        for (const DType type : {DType::F16, DType::BF16, DType::I8}) {
            if (hardware::numberOf(type) == number)
                names.push_back(typeName(type));
        }
    }
    std::string text;
    for (std::size_t k = 0; k < names.size(); ++k)
        text += (k == 0 ? "" : k + 1 == names.size() ? " and " : ", ") + names[k];
    return text;
}

/// "avx2: float16 is not computed in its matrix units: no gain; fast there: int8 (quantize)"
policy::Warning noFastPath(const hardware::Description &chip, DType target)
{
    const bool isEmulated
        = chip.support(Unit::Conv, target) != Support::No || chip.support(Unit::Gemm, target) != Support::No;
    std::string text = chip.name + ": " + typeName(target)
        + (isEmulated ? " is emulated in its matrix units" : " is not computed in its matrix units")
        + ": no speed-up; ";
    const std::string fast = fastTypes(chip);
    text += fast.empty() ? "no narrow type is fast on it" : "fast on it: " + fast;
    const bool isHalf = target != DType::I8;
    if (isHalf && !chip.hasFastPath(DType::F16) && !chip.hasFastPath(DType::BF16)
        && chip.hasFastPath(DType::I8))
        text += ", by quantizing";
    return {"hardware", std::move(text), "no_fast_path", {}};
}

/// "float32's time 1.52 times in convolutions", of products that were measured and gained nothing; empty where some gain, or
/// none was measured.
std::string slownessFound(const hardware::Description &chip, DType type)
{
    std::string text;
    for (const Unit unit : {Unit::Conv, Unit::Gemm}) {
        const auto speed = chip.measuredSpeed(unit, type);
        if (!speed)
            continue;
        if (*speed > 1)
            return {};
        text += (text.empty() ? "" : " and ") + twoDigits(1 / *speed) + " times float32's time in "
            + (unit == Unit::Conv ? "convolutions" : "products");
    }
    return text;
}

/// "avx512-bf16-vnni: bfloat16 was found to take 1.52 times float32's time in convolutions on this machine: no gain"
policy::Warning foundSlow(const hardware::Description &chip, DType type, const std::string &found)
{
    return {"hardware",
            chip.name + ": " + typeName(type) + " takes " + found
                + " as measured on this machine: no speed-up",
            "no_fast_path",
            {}};
}

std::vector<std::string> narrowSums(const graph::Graph &source, const ConvertedModel &converted)
{
    std::vector<std::string> names;
    const std::vector<NodeArithmetic> all = arithmeticOf(source, converted);
    for (NodeId id = 0; id < all.size(); ++id) {
        const bool isProduct = all[id].unit && hardware::isProduct(*all[id].unit);
        if (isProduct && tensor::isHalf(all[id].compute) && all[id].accumulate == all[id].compute)
            names.push_back(source.node(id).name);
    }
    return names;
}

double bytesOf(const Shape &shape, double size)
{
    const auto count = shape.elementCount();
    return count ? static_cast<double>(*count) * size : 0;
}

class Measurer
{
public:
    Measurer(const hardware::Description &chip, const graph::Graph &source, const ConvertedModel &converted,
             const infer::ShapeMap &shapes)
        : m_chip(chip)
        , m_source(source)
        , m_converted(converted)
        , m_shapes(shapes)
        , m_clock(chip, source, shapes)
    {
        for (const tensor::Array &array : converted.model.parameters)
            m_parameters.insert(dialect::variableOf(source, array.name));
    }

    ChipGain measure()
    {
        ChipGain gain;
        for (NodeId id = 0; id < m_source.nodeCount(); ++id) {
            const DType type = m_converted.conversion.precisionOf(id);
            if (m_source.isVariable(id) || !rewrite::isCastable(type))
                continue;
            gain.before += m_clock.timeOf(id, DType::F32);
            gain.after += m_clock.timeOf(id, type);
        }
        for (const rewrite::InsertedCast &cast : m_converted.conversion.casts)
            gain.casts += costOf(cast);
        return gain;
    }

private:
    const Shape &shapeOf(const graph::Entry &entry) const
    {
        static const Shape kOpen;
        const auto &outputs = m_shapes.byNode[entry.node];
        return entry.output < outputs.size() ? outputs[entry.output] : kOpen;
    }

    /// What it reads and writes, unless a product does that on the way. A parameter is cast once, before anything runs.
    double costOf(const rewrite::InsertedCast &cast) const
    {
        const NodeId node = cast.tensor.node;
        if (cast.kind != rewrite::CastKind::Cast || !tensor::isFloat(cast.type) || isParameter(node))
            return 0;
        const auto isOfProduct = [this](const rewrite::Reader &reader) {
            return reader.node != rewrite::kNoNode && m_clock.isProduct(reader.node);
        };
        const bool isFused = m_chip.fusesCasts
            && ((!m_source.isVariable(node) && m_clock.isProduct(node))
                || std::ranges::all_of(cast.readers, isOfProduct));
        constexpr double kBoth = 6; // two bytes on one side, four on the other
        return isFused ? 0 : bytesOf(shapeOf(cast.tensor), kBoth);
    }

    bool isParameter(NodeId node) const
    {
        return m_source.isVariable(node) && m_parameters.contains(m_source.node(node).name);
    }

    const hardware::Description &m_chip;
    const graph::Graph &m_source;
    const ConvertedModel &m_converted;
    const infer::ShapeMap &m_shapes;
    ChipClock m_clock;
    std::unordered_set<std::string_view> m_parameters;
};

std::string humanTraffic(double bytes)
{
    return humanBytes(static_cast<std::uint64_t>(std::max(bytes, 0.0)));
}

/// "; this model: about 3 % slower than in float32"
std::string estimateText(const ChipGain &gain)
{
    if (gain.before <= 0)
        return {};
    const double change = (gain.after + gain.casts) / gain.before - 1;
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "; this model: about %.0f %% %s than in float32",
                  100 * std::abs(change), change > 0 ? "slower" : "faster");
    return std::abs(change) < 0.005 ? "; this model: as fast as in float32" : text.data();
}

} // namespace

ChipGain gainOn(const hardware::Description &chip, const graph::Graph &source,
                const ConvertedModel &converted, const infer::ShapeMap &shapes)
{
    return Measurer(chip, source, converted, shapes).measure();
}

std::optional<policy::Warning> slowPathWarning(const hardware::Description &chip, tensor::DType type)
{
    if (const std::string found = slownessFound(chip, type); !found.empty())
        return foundSlow(chip, type, found);
    return chip.hasFastPath(type) ? std::nullopt : std::optional(noFastPath(chip, type));
}

std::vector<policy::Warning> chipWarnings(const graph::Graph &source, const ConvertedModel &converted,
                                          const infer::ShapeMap *shapes)
{
    std::vector<policy::Warning> warnings;
    const hardware::Description &chip = *converted.chip;
    const DType target = converted.policy.target;
    const ChipGain gain = shapes ? gainOn(chip, source, converted, *shapes) : ChipGain();
    if (auto slow = slowPathWarning(chip, target)) {
        slow->text += estimateText(gain);
        warnings.push_back(*std::move(slow));
    }
    if (std::vector<std::string> names = narrowSums(source, converted); !names.empty()) {
        std::string text = chip.name + " accumulates products of " + typeName(target) + " in "
            + typeName(target) + ", which loses accuracy in long sums: " + joined(names, 4);
        warnings.push_back({"hardware", std::move(text), "narrow_accumulator", std::move(names)});
    }
    if (gain.casts > 0 && gain.casts > gain.saved())
        warnings.push_back({"hardware",
                            chip.name + ": separate casts move " + humanTraffic(gain.casts)
                                + ", while lowering saves " + humanTraffic(gain.saved()) + " of "
                                + humanTraffic(gain.before),
                            "casts_eat_gain",
                            {}});
    return warnings;
}

} // namespace halftone::mixed
