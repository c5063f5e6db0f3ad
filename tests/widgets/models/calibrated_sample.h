#pragma once

#include "core/walks/calibrate.h"
#include "tests/widgets/models/sample_document.h"

namespace halftone::test {

/// Statistics of a few of the sample's digits, as the window collects them.
inline std::shared_ptr<const walks::CalibrateOutcome> calibratedSample(const session::Snapshot &snapshot,
                                                                       std::size_t examples = 4)
{
    walks::CalibrateOptions options;
    options.backend = "reference";
    options.examples.inputs = kSampleFolder + "digits-test.npz";
    options.examples.examples = examples;
    options.threshold.codes = calibration::CodeType::Auto;
    options.threshold.method = policy::kDefaultThresholdMethod;
    auto calibrated = walks::calibrateModel(snapshot.source->model, snapshot.source->modelPath, options, {});
    return calibrated.ok() ? std::make_shared<const walks::CalibrateOutcome>(std::move(calibrated).value())
                           : nullptr;
}

/// As calibration lists it; the number of tensors when there is none.
inline std::size_t tensorNamed(const walks::CalibrateOutcome &calibration, std::string_view name)
{
    std::size_t k = 0;
    while (k < calibration.tensors.size() && calibration.tensors[k].name != name)
        ++k;
    return k;
}

} // namespace halftone::test
