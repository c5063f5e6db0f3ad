#include "core/calibration/calibrated.h"
#include "core/calibration/int8_error.h"
#include "core/runtime/reference/elements.h"

#include <algorithm>
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
    runtime::reference::widen(tensor.dtype(), bytes.data(), values.size(), values.data());
    return values;
}

std::string noteOn(const TensorStatistics &statistics)
{
    std::string note;
    const std::uint64_t infinite = statistics.positiveInfinite + statistics.negativeInfinite;
    if (statistics.nan + infinite > 0)
        note = std::to_string(statistics.nan) + " NaN and " + std::to_string(infinite)
            + " infinite values left out";
    if (statistics.absMax == 0)
        note += std::string(note.empty() ? "" : "; ")
            + (statistics.finite() > 0 ? "all values are zero" : "no finite value");
    return note;
}

Result<CalibratedArray> calibrate(std::string name, const Batches &batches, CodeType codes,
                                  const Progress &progress)
{
    Collector collector;
    for (const Tensor &batch : batches) {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "stopped", {}};
        progress.tell(0.5, name);
        collector.add(floatsOf(batch));
    }
    CalibratedArray array{std::move(name), collector.statistics(), 0, {}, {}};
    const TensorStatistics &statistics = array.statistics;
    const bool isOneSided = codes == CodeType::Uint8 || codes == CodeType::Auto;
    array.threshold = statistics.absMax;
    Int8Error error(array.threshold,
                    isOneSided && statistics.min >= 0 ? CodeRange::OneSided : CodeRange::Symmetric);
    for (const Tensor &batch : batches) {
        if (progress.stopped())
            return Error{Errc::Cancelled, {}, {}, "stopped", {}};
        error.add(floatsOf(batch));
    }
    array.sqnrDb = error.sqnrDb();
    array.note = noteOn(statistics);
    return array;
}

} // namespace

Result<std::vector<CalibratedArray>> calibrateArrays(std::span<const io::NamedTensor> arrays,
                                                     const std::string &batches, CodeType codes,
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
            return badInput(batches + '0', "no such array", "a first batch");
    }
    std::vector<CalibratedArray> calibrated;
    for (auto &[name, parts] : groups) {
        HALFTONE_TRY(CalibratedArray array, calibrate(name, parts, codes, progress));
        calibrated.push_back(std::move(array));
    }
    return calibrated;
}

} // namespace halftone::calibration
