#include "core/calibration/calibrated.h"
#include "core/calibration/entropy.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace halftone::calibration {
namespace {

using tensor::Tensor;

using Batches = std::vector<Tensor>;

std::vector<float> floatsOf(const Tensor &tensor)
{
    std::vector<float> values(tensor.elementCount());
    // An array of a file need not be aligned.
    std::vector<std::byte> bytes(tensor.bytes().begin(), tensor.bytes().end());
    tensor::widen(tensor.dtype(), bytes.data(), values.size(), values.data());
    return values;
}

Result<CalibratedArray> calibrate(std::string name, const Batches &batches, const ThresholdOptions &options,
                                  const Progress &progress)
{
    Collector collector;
    std::vector<float> values;
    for (const Tensor &batch : batches) {
        HALFTONE_CHECK(progress.checkStop());
        const std::vector<float> part = floatsOf(batch);
        collector.add(part);
        values.insert(values.end(), part.begin(), part.end());
    }
    CalibratedArray array{std::move(name), collector.statistics(), {}};
    array.threshold = chooseThreshold(array.statistics, values, options, progress.stop);
    HALFTONE_CHECK(progress.checkStop());
    return array;
}

} // namespace

ChannelRange calibratedRange(const TensorStatistics &statistics, const Threshold &threshold)
{
    // What was zero throughout gets the range that MXNet's search gives it, half of its levels of a histogram over -0.5..0.5,
    // rather than none, in which anything else would saturate.
    const std::size_t levels = threshold.range == CodeRange::OneSided ? kUnsignedLevels : kSignedLevels;
    const double nominal = (static_cast<double>(levels) / 2) / static_cast<double>(Histogram::kFirstBins);
    const auto value = static_cast<float>(statistics.absMax > 0 ? threshold.value : nominal);
    if (threshold.keepsEnds)
        return {static_cast<float>(statistics.min), static_cast<float>(statistics.max)};
    return {statistics.min >= 0 ? 0 : -value, value};
}

std::optional<double> channelSqnrDb(const CalibratedTensor &tensor)
{
    constexpr double kWeightLevels = 127;
    constexpr double kEvenNoise = 12; // variance of an even distribution: its width squared over this
    double noise = 0;
    for (const ChannelRange &channel : tensor.channels) {
        const double step
            = std::max(std::abs(double{channel.min}), std::abs(double{channel.max})) / kWeightLevels;
        noise += step * step / kEvenNoise / static_cast<double>(tensor.channels.size());
    }
    const TensorStatistics &statistics = tensor.statistics;
    const double signal = statistics.mean * statistics.mean + statistics.deviation * statistics.deviation;
    return noise > 0 && signal > 0 ? std::optional(10 * std::log10(signal / noise)) : std::nullopt;
}

Result<std::vector<CalibratedArray>> calibrateArrays(std::span<const io::NamedTensor> arrays,
                                                     const std::string &batches,
                                                     const ThresholdOptions &options,
                                                     const Progress &progress)
{
    std::vector<std::pair<std::string, Batches>> groups;
    if (batches.empty()) {
        for (const io::NamedTensor &array : arrays) {
            if (tensor::isFloat(array.tensor.dtype()))
                groups.push_back({array.name, {array.tensor}});
        }
    } else {
        groups.push_back({batches, {}});
        for (;;) {
            const std::string name = batches + std::to_string(groups[0].second.size());
            const auto found = std::ranges::find(arrays, name, &io::NamedTensor::name);
            if (found == arrays.end())
                break;
            groups[0].second.push_back(found->tensor);
        }
        if (groups[0].second.empty())
            return badInput(batches + '0', "no such array", "the first batch");
    }
    std::vector<CalibratedArray> calibrated;
    for (auto &[name, parts] : groups) {
        progress.tell(static_cast<double>(calibrated.size()) / static_cast<double>(groups.size()), name);
        HALFTONE_TRY(CalibratedArray array, calibrate(name, parts, options, progress));
        calibrated.push_back(std::move(array));
    }
    return calibrated;
}

} // namespace halftone::calibration
