#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/jobs/int8_ranges.h"
#include "core/mixed/convert_model.h"
#include "core/profile/layer_compare.h"
#include "core/session/snapshot.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halftone::session {

/// A model, what a person wants of it, and where what is to be measured comes from. What it refers to must outlive the call.
struct DeriveRequest
{
    const graph::Model &model;
    const std::string &modelPath; ///< data may have files beside it
    const policy::Policy &policy;
    const infer::ShapeMap *shapes = nullptr; ///< of the model; null: unknown
    jobs::RangeSource ranges = {}; ///< of int8 operators
    bool strict = false; ///< warnings are errors
    /// The examples that mean errors of int8 layers are measured on, to be taken out of their biases; nothing: they stay.
    std::optional<jobs::CalibrateOptions> correction = {};
    const mixed::ConvertedModel *before
        = nullptr; ///< another conversion of the model, whose stored parameters are taken over; null: none
    /// Nothing is written of the result: a format that no file has (Policy::analysedFormat) may be asked for.
    bool isForAnalysis = false;
    int opset
        = 0; ///< the result's at least, where the format counts them; 0: the model's, or what the target needs
};

struct Derived
{
    std::shared_ptr<const policy::Rules> rules; ///< the policy's lists, complete
    std::shared_ptr<const mixed::ConvertedModel> converted;
    std::size_t correctedBiases = 0; ///< layers
    std::vector<std::string> notes; ///< layers that have nowhere to put a correction
};

/// The one way from a model and a policy to what is written: the policy is resolved, ranges are found where int8 operators need
/// them, the model is converted and, on request, corrected (quantize::correctBiases). Each step is done once.
/// fails: as mixed::decide(), jobs::rangesFor(), mixed::convertModel() and jobs::featureMeans()
Result<Derived> derive(const DeriveRequest &request, const Progress &progress = {});

/// The source against its conversion, whose float16 stands for the format that the policy asks for. fails: Cancelled
Result<profile::ComparedModels> comparedPair(const graph::Model &source,
                                             const mixed::ConvertedModel &converted,
                                             const Progress &progress = {});

/// A snapshot's conversion once more with its biases corrected, its ranges being those that its policy chooses from its
/// calibration. Needs: both, and a conversion. fails: as derive()
Result<Derived> deriveCorrected(const Snapshot &snapshot, const jobs::CalibrateOptions &examples,
                                const Progress &progress = {});

/// False: the first derive() for the chip looks for a GPU and measures what is at hand, which takes about two seconds.
bool isQuickChip(std::string_view chip);

} // namespace halftone::session
