#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/quantize/quantize.h"
#include "core/walks/calibrate.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halftone::walks {

struct QuantizeSettings
{
    quantize::QuantizeOptions options;
    /// How to find ranges if options.isCalibrated and there is no table. Its code type follows options.codes.
    CalibrateOptions calibrate;
    std::string table; ///< a calibration table; empty: calibrate on the data
    std::shared_ptr<const CalibrateOutcome> calibration = {}; ///< in place of a table; null: none
    /// Corrects the biases of int8 layers for their mean errors; runs the calibration data once more.
    bool correctsBiases = false;
};

struct QuantizeOutcome
{
    quantize::QuantizedModel quantized;
    /// The statistics used, in the order of quantized.thresholds; empty with a table.
    std::vector<calibration::CalibratedTensor> tensors;
    std::size_t examples = 0; ///< used for the ranges
    std::size_t correctedBiases = 0; ///< number of layers
    double seconds = 0;
};

/// The options with a refusal for each node that must not round positions (core/mixed/RULES.md, M-position).
/// fails: as infer::classifyVariables()
Result<quantize::QuantizeOptions> withPositionsHeld(const graph::Model &model,
                                                    quantize::QuantizeOptions options);

/// Calibrates the tensors whose ranges are needed, and quantizes the model. With QDQ pairs, a 16-bit model is first
/// widened to float32, with a note.
/// fails: also rewrite::stripCasts(); as calibrateModel(), quantize::quantize() and report::readCalibrationTable()
Result<QuantizeOutcome> quantizeModel(const graph::Model &model, const std::string &modelPath,
                                      const QuantizeSettings &settings, const Progress &progress);

/// The int8 ranges of calibrated tensors, by name.
quantize::QuantizedRanges calibratedRanges(std::span<const calibration::CalibratedTensor> tensors);

/// A threshold applies to both ends. With a zero point, the range ends at the actual values.
void cutToValues(std::span<const calibration::CalibratedTensor> tensors, quantize::QuantizedRanges &ranges);

/// The ranges in a calibration table, by tensor name, for a model of this format: as those of a calibration (cutToValues()), where the table
/// tells the values.
/// fails: errors of the file system; BadInput for a file that is not a calibration table
Result<quantize::QuantizedRanges> rangesInTable(const std::string &path, const graph::Graph &graph);

/// Ranges of the named tensors from one run on random values, for timing only.
/// inputs  shapes by name; those of parameters are ignored
/// fails   BadInput for an input of unknown shape; as interpret::Interpreter
Result<quantize::QuantizedRanges> rangesOnRandomValues(const graph::Model &model,
                                                       const std::vector<std::string> &names,
                                                       const infer::KnownShapes &inputs, unsigned threads,
                                                       const Progress &progress);

/// `model` in int8 for timing only, with ranges from one run on random values, or from a table.
/// inputs  shapes by name; those of parameters are ignored
/// fails   as quantizeModel() and interpret::Interpreter
Result<graph::Model> quantizedForProfile(const graph::Model &model, const infer::KnownShapes &inputs,
                                         const std::string &table, unsigned threads,
                                         const Progress &progress);

} // namespace halftone::walks
