#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/compare/layer_compare.h"
#include "core/mixed/convert_model.h"
#include "core/session/snapshot.h"
#include "core/walks/int8_ranges.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// A model, a policy, and the sources of measured values. Referenced objects must outlive the call.
struct DeriveRequest
{
    const graph::Model &model;
    const std::string &modelPath; ///< data files may be in its folder
    const policy::Policy &policy;
    const infer::ShapeMap *shapes = nullptr; ///< of the model; null: unknown
    walks::RangeSource ranges = {}; ///< for int8 operators
    bool strict = false; ///< treat warnings as errors
    /// The examples for correcting the biases of int8 layers; absent: no correction.
    std::optional<walks::CalibrateOptions> correction = {};
    const mixed::ConvertedModel *before
        = nullptr; ///< another conversion of the model, whose stored parameters are reused; null: none
    /// The result will not be written, so that a format for analysis (Policy::analysedFormat) is allowed.
    bool isForAnalysis = false;
    bool storesWeights
        = false; ///< what comes after follows Policy::weights; else a warning tells that nothing does
    int opset
        = 0; ///< minimum opset of the result, for formats with opsets; 0: that of the model, raised if the target requires it
};

struct Derived
{
    std::shared_ptr<const policy::Rules> rules; ///< the complete lists of the policy
    std::shared_ptr<const mixed::ConvertedModel> converted;
    std::size_t correctedBiases = 0; ///< number of layers
    std::vector<std::string> notes; ///< layers that cannot be corrected
};

/// Derives the result from a model and a policy: resolves the policy, finds the ranges that int8 operators need, converts the model and,
/// on request, corrects biases (quantize::correctBiases). Each step runs once.
/// fails: as mixed::decide(), walks::rangesFor(), mixed::convertModel() and walks::featureMeans()
Result<Derived> derive(const DeriveRequest &request, const Progress &progress = {});

/// The source and its conversion for a comparison, with float16 replaced by the format for analysis, if any. fails: Cancelled
Result<compare::ComparedModels> comparedPair(const graph::Model &source,
                                             const mixed::ConvertedModel &converted,
                                             const Progress &progress = {});

/// The conversion of a snapshot with corrected biases, and ranges chosen by its policy from its calibration. Needs: policy, calibration
/// and conversion. fails: as derive()
Result<Derived> deriveCorrected(const Snapshot &snapshot, const walks::CalibrateOptions &examples,
                                const Progress &progress = {});

/// False: the first derive() for the chip looks for a GPU and measures this machine, which takes about two seconds.
bool isQuickChip(std::string_view chip);

} // namespace halftone::session
