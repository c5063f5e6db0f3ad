#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/jobs/calibrate.h"
#include "core/quantize/quantize.h"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halftone::jobs {

struct QuantizeSettings
{
    quantize::QuantizeOptions options;
    /// How ranges are found, where options.isCalibrated and there is no table. Its code type follows options.codes.
    CalibrateOptions calibrate;
    std::string table; ///< a calibration table; empty: the calibration data are run
    /// Takes the mean errors of int8 layers out of their biases; needs calibration data, which are run once more.
    bool correctsBiases = false;
};

struct QuantizeOutcome
{
    quantize::QuantizedModel quantized;
    /// What was observed for this, in the order of quantized.thresholds; empty with a table.
    std::vector<calibration::CalibratedTensor> tensors;
    std::size_t examples = 0; ///< that the ranges come from
    std::size_t correctedBiases = 0; ///< layers
    double seconds = 0;
};

/// The options with a refusal for each node that must not round positions (core/mixed/RULES.md, M-position). fails: as
/// infer::classifyVariables()
Result<quantize::QuantizeOptions> withPositionsHeld(const graph::Model &model,
                                                    quantize::QuantizeOptions options);

/// Calibrates the tensors that the quantized model needs ranges of, and quantizes. A model in 16 bit of a format in which values pass
/// through codes is first widened to float32; notes say so.
/// fails: also rewrite::stripCasts(); as calibrateModel(), quantize::quantize() and report::readCalibrationTable()
Result<QuantizeOutcome> quantizeModel(const graph::Model &model, const std::string &modelPath,
                                      const QuantizeSettings &settings, const Progress &progress);

/// The ranges that codes of calibrated tensors stand for, by tensor.
quantize::QuantizedRanges calibratedRanges(std::span<const calibration::CalibratedTensor> tensors);

/// A threshold stands for both ends, of which the values may reach one only: where codes have a zero point, they end there.
void cutToValues(std::span<const calibration::CalibratedTensor> tensors, quantize::QuantizedRanges &ranges);

/// The ranges in a calibration table, by tensor.
/// fails: what the file system says; BadInput for what is no such table
Result<quantize::QuantizedRanges> rangesInTable(const std::string &path);

/// Of the tensors of those names, from one run on random values: for timing alone.
/// inputs  shapes by name; those of parameters are passed over
/// fails   BadInput for an input of unknown shape; as interpret::Interpreter
Result<quantize::QuantizedRanges> rangesOnRandomValues(const graph::Model &model,
                                                       const std::vector<std::string> &names,
                                                       const infer::KnownShapes &inputs, unsigned threads,
                                                       const Progress &progress);

/// `model` in int8 for timing alone: the ranges come from one run on random values, or from a table.
/// inputs  shapes by name; those of parameters are passed over
/// fails   as quantizeModel() and interpret::Interpreter
Result<graph::Model> quantizedForProfile(const graph::Model &model, const infer::KnownShapes &inputs,
                                         const std::string &table, unsigned threads,
                                         const Progress &progress);

} // namespace halftone::jobs
