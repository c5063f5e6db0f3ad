#pragma once

#include "core/base/progress.h"
#include "core/base/result.h"
#include "core/infer/infer_shapes.h"
#include "core/mixed/convert_model.h"
#include "core/policy/policy.h"
#include "core/quantize/quantize.h"
#include "core/walks/calibrate.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace halftone::walks {

/// Are thresholds found as the tools of the graph's format find them, with histograms whose ranges the first batch sets?
bool isMeantAsBatches(const graph::Graph &graph, calibration::ThresholdMethod method);

/// Does a conversion by the policy quantize anything?
bool asksForInt8(const policy::Policy &policy);

/// The thresholds of one calibration as chosen by policies, each computed once. Thread-safe.
class RangeCache
{
public:
    /// Needs: not null.
    explicit RangeCache(std::shared_ptr<const CalibrateOutcome> calibration);

    const std::shared_ptr<const CalibrateOutcome> &calibration() const { return m_calibration; }

    /// The ranges of the named tensors that were calibrated, as the policy chooses (choiceFor()); uint8 codes if no value is negative.
    /// fails: Cancelled
    Result<quantize::QuantizedRanges> ranges(const std::vector<std::string> &names,
                                             const policy::Policy &policy, const Progress &progress = {});
    /// The same with the largest magnitudes, which is fast: enough to find the structure of the quantized graph.
    quantize::QuantizedRanges roughRanges(const std::vector<std::string> &names) const;

private:
    using Key = std::pair<std::size_t, policy::ThresholdMethod>;

    std::shared_ptr<const CalibrateOutcome> m_calibration;
    std::unordered_map<std::string_view, std::size_t> m_index; ///< into the calibration's tensors
    std::mutex m_mutex;
    std::map<Key, calibration::Threshold> m_chosen;
};

/// Sources of the ranges of a conversion; the first one that is set is used.
struct RangeSource
{
    std::shared_ptr<RangeCache> calibrated; ///< earlier statistics
    bool isRough = false; ///< RangeCache::roughRanges() suffices
    std::string table; ///< a calibration table
    CalibrateOptions calibrate; ///< if examples.inputs is set: calibrate on them
    /// Shapes of inputs: run once on random values, for timing only.
    const infer::KnownShapes *randomInputs = nullptr;
};

/// The ranges of the tensors that a conversion of `model` needs; empty if the policy requests no int8 or there is no source.
/// decided  result of mixed::decide() for the model and the policy; keeps the plan that names the tensors
/// fails: as calibrateModel(), mixed::rangesToFind() and report::readCalibrationTable()
Result<quantize::QuantizedRanges> rangesFor(const graph::Model &model, const std::string &modelPath,
                                            const policy::Policy &policy, mixed::Decided &decided,
                                            const RangeSource &source, const Progress &progress);

} // namespace halftone::walks
