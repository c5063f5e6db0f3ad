#include "core/results/quantization_json.h"

#include "core/report/json_values.h"
#include "core/results/common_json.h"

#include <map>
#include <string_view>

namespace halftone::results {

using Json = OrderedJson;

OrderedJson quantizationJson(const walks::QuantizeOutcome &outcome, const QuantizationSettings &settings,
                             const std::vector<std::string> &written)
{
    Json skipped = Json::array();
    for (const quantize::SkippedNode &node : outcome.quantized.skipped)
        skipped.push_back({{"name", node.name}, {"op", node.op}, {"why", node.why}});
    std::map<std::string_view, const calibration::CalibratedTensor *> tensors;
    for (const calibration::CalibratedTensor &tensor : outcome.tensors)
        tensors.emplace(tensor.name, &tensor);
    Json thresholds = Json::array();
    for (const quantize::QuantizedThreshold &threshold : outcome.quantized.thresholds) {
        Json row{{"tensor", threshold.tensor.name},
                 {"source", threshold.tensor.source},
                 {"min", threshold.range.low},
                 {"max", threshold.range.high}};
        const auto found = tensors.find(threshold.tensor.source);
        if (found != tensors.end()) {
            const calibration::Threshold &chosen = found->second->threshold;
            row["method"] = calibration::nameOf(chosen.method);
            row["sqnr_db"] = report::numberOrNull(chosen.sqnrDb);
            row["sqnr_db_minmax"] = report::numberOrNull(chosen.sqnrDbMinMax);
            row["note"] = chosen.note.empty() ? Json() : Json(chosen.note);
        }
        thresholds.push_back(std::move(row));
    }
    return {{"form", settings.form},
            {"for", settings.runtime.empty() ? Json() : Json(settings.runtime)},
            {"hardware", settings.hardware.empty() ? Json() : Json(settings.hardware)},
            {"calib", settings.calib},
            {"examples", outcome.examples},
            {"corrected_biases", outcome.correctedBiases},
            {"quantized", outcome.quantized.quantized},
            {"skipped", std::move(skipped)},
            {"thresholds", std::move(thresholds)},
            {"notes", outcome.quantized.notes},
            {"warnings", warningsJson(outcome.quantized.warnings)},
            {"written", written},
            {"seconds", outcome.seconds}};
}

} // namespace halftone::results
