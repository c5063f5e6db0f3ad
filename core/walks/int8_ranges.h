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

/// Whether thresholds are to be those of MXNet's own search, from histograms that the first batch settles: what its tools, which
/// quantize graphs in that form, would find on the same batches.
bool isMeantAsBatches(const graph::Graph &graph, calibration::ThresholdMethod method);

/// Does a conversion by the policy quantize anything?
bool asksForInt8(const policy::Policy &policy);

/// Thresholds of one calibration as policies choose them, each searched for once. Safe from any thread.
class RangeCache
{
public:
    /// Needs: not null.
    explicit RangeCache(std::shared_ptr<const CalibrateOutcome> calibration);

    const std::shared_ptr<const CalibrateOutcome> &calibration() const { return m_calibration; }

    /// The ranges of those of the named tensors that were calibrated, as the policy says (choiceFor()), with uint8 codes where
    /// no value is negative. fails: Cancelled
    Result<quantize::QuantizedRanges> ranges(const std::vector<std::string> &names,
                                             const policy::Policy &policy, const Progress &progress = {});
    /// The same with the largest magnitudes, which need no search: for what only the structure is wanted of.
    quantize::QuantizedRanges roughRanges(const std::vector<std::string> &names) const;

private:
    using Key = std::pair<std::size_t, policy::ThresholdMethod>;

    std::shared_ptr<const CalibrateOutcome> m_calibration;
    std::unordered_map<std::string_view, std::size_t> m_index; ///< into the calibration's tensors
    std::mutex m_mutex;
    std::map<Key, calibration::Threshold> m_chosen;
};

/// Where the ranges of a conversion come from; the first that is there.
struct RangeSource
{
    std::shared_ptr<RangeCache> calibrated; ///< statistics of before
    bool isRough = false; ///< of these the largest magnitudes will do
    std::string table; ///< a calibration table
    CalibrateOptions calibrate; ///< with examples.inputs: these are run
    /// Shapes of inputs, of which random values are run once: for speed alone.
    const infer::KnownShapes *randomInputs = nullptr;
};

/// The ranges of the tensors that a conversion of `model` needs; none when the policy asks for no int8 or there is no source.
/// decided  by mixed::decide() from the model and the policy; what is planned to know the tensors is kept in it
/// fails: as calibrateModel(), mixed::rangesToFind() and report::readCalibrationTable()
Result<quantize::QuantizedRanges> rangesFor(const graph::Model &model, const std::string &modelPath,
                                            const policy::Policy &policy, mixed::Decided &decided,
                                            const RangeSource &source, const Progress &progress);

} // namespace halftone::walks
