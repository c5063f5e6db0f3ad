#include "core/session/quantize.h"

#include "core/base/mapped_file.h"
#include "core/report/calibration_json.h"

#include <chrono>
#include <utility>

namespace halftone::session {
namespace {

calibration::CodeType codeTypeOf(passes::QuantizedCodes codes)
{
    return codes == passes::QuantizedCodes::Int8 ? calibration::CodeType::Int8
        : codes == passes::QuantizedCodes::UInt8 ? calibration::CodeType::Uint8
                                                 : calibration::CodeType::Auto;
}

Result<passes::QuantizedRanges> rangesOf(const std::string &table)
{
    HALFTONE_TRY(const auto mapped, MappedFile::open(table));
    auto read = report::readCalibrationTable(mapped->text());
    if (!read.ok())
        return inFile(std::move(read).error(), table);
    passes::QuantizedRanges ranges;
    for (const report::NamedRange &range : read.value())
        ranges[range.name] = {range.low, range.high};
    return ranges;
}

} // namespace

Result<QuantizeOutcome> quantizeModel(const graph::Model &model, const std::string &symbolPath,
                                      const QuantizeSettings &settings, const Progress &progress)
{
    const auto start = std::chrono::steady_clock::now();
    QuantizeOutcome outcome;
    passes::QuantizedRanges ranges;
    if (settings.options.isCalibrated && !settings.table.empty()) {
        HALFTONE_TRY(ranges, rangesOf(settings.table));
    } else if (settings.options.isCalibrated) {
        HALFTONE_TRY(const std::vector<passes::ObservedTensor> observed,
                     passes::tensorsToObserve(model, settings.options));
        CalibrateOptions calibrate = settings.calibrate;
        calibrate.threshold.codes = codeTypeOf(settings.options.codes);
        calibrate.rangesOnly = true;
        for (const passes::ObservedTensor &tensor : observed)
            calibrate.tensors.push_back(tensor.source);
        if (!calibrate.tensors.empty()) {
            HALFTONE_TRY(CalibrateOutcome calibrated, calibrateModel(model, symbolPath, calibrate, progress));
            outcome.tensors = std::move(calibrated.tensors);
            outcome.examples = calibrated.examples;
        }
        for (const calibration::CalibratedTensor &tensor : outcome.tensors) {
            const auto range = calibration::calibratedRange(tensor.statistics, tensor.threshold);
            ranges[tensor.name] = {range.min, range.max};
        }
    }
    HALFTONE_TRY(outcome.quantized, passes::quantize(model, settings.options, ranges));
    for (const calibration::CalibratedTensor &tensor : outcome.tensors) {
        if (!tensor.threshold.note.empty())
            outcome.quantized.notes.push_back(tensor.name + ": " + tensor.threshold.note);
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return outcome;
}

} // namespace halftone::session
