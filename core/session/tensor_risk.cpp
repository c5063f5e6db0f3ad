#include "core/session/tensor_risk.h"

#include "core/base/text.h"
#include "core/dialect/dialect.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unordered_map>

namespace halftone::session {
namespace {

using calibration::CalibratedTensor;
using calibration::FormatLoss;
using calibration::TensorStatistics;
using tensor::DType;

/// Where int8 codes begin to be worth looking at, in dB; what a threshold may lose against the best one; what is worth mentioning.
constexpr double kGoodSqnr = 40;
constexpr double kBadLoss = 20;
constexpr double kLossWorthWords = 1;

std::string formatted(const char *format, double value)
{
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), format, value);
    return text.data();
}

std::string countOf(std::uint64_t count, const char *one, const char *many)
{
    return grouped(count) + ' ' + (count == 1 ? one : many);
}

struct Finding
{
    double severity = 0;
    std::string words;
};

/// What the rules say of values in a 16-bit type; severity 0: nothing.
Finding findingOf(const TensorStatistics &statistics, DType type)
{
    const FormatLoss &loss = statistics.loss(type);
    const std::string name(tensor::nameOf(type));
    if (loss.overflow > 0)
        return {2 + static_cast<double>(loss.overflow) / static_cast<double>(statistics.count),
                grouped(loss.overflow) + " of " + countOf(statistics.count, "value", "values")
                    + (loss.overflow == 1 ? " overflows " : " overflow ") + name};
    Finding worst;
    const auto take = [&worst](double severity, const std::string &words) {
        if (severity > worst.severity)
            worst = {std::min(severity, 1.999), words};
    };
    if (statistics.count == 0)
        return worst;
    const double underflow = static_cast<double>(loss.underflow) / static_cast<double>(statistics.count);
    if (underflow > kMostUnderflow)
        take(1 + underflow, formatted("%.3g", 100 * underflow) + " % become zero in " + name);
    // A constant has no spread that the spacing could hide.
    const double spacing = statistics.deviation > 0 ? loss.ulpAtAbsMax / statistics.deviation : 0;
    if (spacing > kMostSpacing)
        take(1 + std::min(0.9, spacing / 2),
             name + " is too coarse: its step is " + formatted("%.3g", loss.ulpAtAbsMax) + " for a spread of "
                 + formatted("%.3g", statistics.deviation));
    if (type == DType::F16 && statistics.absMax > kHeadRoomMax)
        take(1.05, "less than 2 bits of headroom in " + name);
    return worst;
}

/// A node's end of a tensor.
struct TensorEnd
{
    graph::NodeId node = 0;
    std::uint32_t slot = 0; ///< of its inputs or outputs
    bool reads = false;
};

/// What writes and reads every tensor, by its name.
std::unordered_map<std::string, std::vector<TensorEnd>> endsByTensor(const graph::Graph &graph)
{
    std::unordered_map<std::string, std::vector<TensorEnd>> all;
    const auto endsOf = [&](const graph::Entry &entry) -> std::vector<TensorEnd> & {
        auto &ends = all[dialect::of(graph).entryName(graph, entry)];
        if (ends.empty() && !graph.isVariable(entry.node))
            ends.push_back({entry.node, entry.output, false});
        return ends;
    };
    for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
        const auto inputs = graph.inputs(id);
        for (std::uint32_t slot = 0; slot < inputs.size(); ++slot)
            endsOf(inputs[slot]).push_back({id, slot, true});
    }
    for (const graph::Entry &head : graph.heads())
        endsOf(head);
    return all;
}

/// The type in which the converted node really has the tensor: not all that an operator reads is in the type that it computes
/// in. Unknown in int8.
DType typeOf(const rewrite::Conversion &conversion, const TensorEnd &end)
{
    const graph::NodeId node = conversion.fromSource[end.node];
    if (conversion.isInt8(end.node) || node == rewrite::kNoNode)
        return DType::Unknown;
    if (!end.reads)
        return conversion.types.of({node, end.slot, 0});
    const auto inputs = conversion.graph.inputs(node);
    return end.slot < inputs.size() ? conversion.types.of(inputs[end.slot]) : DType::Unknown;
}

/// The nodes that compute in a type and have the tensor in it.
std::vector<graph::NodeId> nodesIn(DType type, const Snapshot &snapshot, const std::vector<TensorEnd> &ends)
{
    std::vector<graph::NodeId> nodes;
    for (const TensorEnd &end : ends) {
        if (snapshot.precisionOf(end.node) == type && typeOf(snapshot.converted->conversion, end) == type
            && (nodes.empty() || nodes.back() != end.node))
            nodes.push_back(end.node);
    }
    return nodes;
}

/// The tensor lies on the border of an int8 operator, which may be several nodes.
bool crossesInt8(const rewrite::Conversion &conversion, const std::vector<TensorEnd> &ends)
{
    const bool isWritten = !ends.front().reads;
    const graph::NodeId own = isWritten ? conversion.int8Group[ends.front().node] : rewrite::kNoNode;
    if (isWritten && own == ends.front().node)
        return true; // an int8 operator gives it
    return std::ranges::any_of(ends, [&](const TensorEnd &end) {
        return end.reads && conversion.isInt8(end.node) && conversion.int8Group[end.node] != own;
    });
}

std::string actionFor(const graph::Graph &graph, const std::vector<graph::NodeId> &nodes)
{
    if (nodes.size() <= 2) {
        std::string names = graph.node(nodes.front()).name;
        if (nodes.size() == 2)
            names += " and " + graph.node(nodes.back()).name;
        return "Keep " + names + " in fp32";
    }
    return "Keep these " + std::to_string(nodes.size()) + " nodes in fp32";
}

} // namespace

TensorRisk riskOf(const CalibratedTensor &tensor, const calibration::ChosenThreshold &chosen, DType target,
                  TensorUse use)
{
    const TensorStatistics &statistics = tensor.statistics;
    if (const std::uint64_t odd = statistics.count - statistics.finite(); odd > 0)
        return {4, countOf(odd, "value is", "values are") + " NaN or infinite in float32"};
    if (Finding finding = findingOf(statistics, target); use.isHeld && finding.severity > 0)
        return {finding.severity, std::move(finding.words)};
    if (!use.isCoded || tensor.isParameter || !chosen.threshold.sqnrDb || !chosen.reachableDb)
        return {};
    // Beyond what is good already nothing needs to be mended.
    const double lost = std::min(*chosen.reachableDb, kGoodSqnr) - *chosen.threshold.sqnrDb;
    const double severity = std::clamp(lost / kBadLoss, 0.0, 0.999);
    return {severity,
            lost >= kLossWorthWords ? formatted("%.1f", lost) + " dB below the best threshold"
                                    : std::string()};
}

std::vector<TensorUse> usesOf(const Snapshot &snapshot, const walks::CalibrateOutcome &calibration)
{
    std::vector<TensorUse> uses(calibration.tensors.size(), TensorUse{false, true});
    if (!snapshot.converted)
        return uses;
    const auto ends = endsByTensor(snapshot.graph());
    const bool hasInt8 = !snapshot.converted->conversion.int8Group.empty();
    for (std::size_t k = 0; k < uses.size(); ++k) {
        uses[k].isCoded = !hasInt8;
        const auto found = ends.find(calibration.tensors[k].name);
        if (found == ends.end())
            continue;
        uses[k].isHeld = !nodesIn(snapshot.policy->target, snapshot, found->second).empty();
        uses[k].isCoded = uses[k].isCoded || crossesInt8(snapshot.converted->conversion, found->second);
    }
    return uses;
}

std::vector<TensorAdvice> adviceFor(const Snapshot &snapshot, const walks::CalibrateOutcome &calibration)
{
    std::vector<TensorAdvice> all;
    if (!snapshot.converted || snapshot.error)
        return all;
    const graph::Graph &graph = snapshot.graph();
    const auto ends = endsByTensor(graph);
    for (std::size_t k = 0; k < calibration.tensors.size(); ++k) {
        const CalibratedTensor &tensor = calibration.tensors[k];
        const auto found = ends.find(tensor.name);
        if (found == ends.end())
            continue;
        for (const DType type : {DType::F16, DType::BF16}) {
            TensorAdvice advice;
            advice.nodes = nodesIn(type, snapshot, found->second);
            const Finding finding = findingOf(tensor.statistics, type);
            if (advice.nodes.empty() || finding.severity == 0)
                continue;
            advice.tensor = k;
            advice.isHard = finding.severity >= 2;
            advice.text = tensor.name + ": " + finding.words + " (largest magnitude "
                + formatted("%.4g", tensor.statistics.absMax) + ')';
            advice.action = actionFor(graph, advice.nodes);
            policy::ExcludeNames edit;
            for (const graph::NodeId node : advice.nodes)
                edit.names.push_back(graph.node(node).name);
            advice.edit = std::move(edit);
            all.push_back(std::move(advice));
        }
    }
    std::ranges::stable_sort(all, std::greater<>(), &TensorAdvice::isHard);
    return all;
}

} // namespace halftone::session
