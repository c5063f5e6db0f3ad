#pragma once

#include "core/calibration/calibrated.h"
#include "core/calibration/folded_histogram.h"
#include "core/policy/policy.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

namespace halftone::calibration {

/// What int8 codes with one threshold make of a tensor.
struct ThresholdFigures
{
    double threshold = 0;
    double clipped = 0; ///< share of the finite values beyond it
    double divergence = 0; ///< FoldedHistogram::divergence()
    std::optional<double> sqnrDb; ///< nothing for zeros
};

/// The threshold of one method.
struct ThresholdMark
{
    ThresholdOptions options; ///< the method, and which percentile
    Threshold threshold;
    double clipped = 0;
};

struct CurvePoint
{
    double threshold = 0;
    double value = 0;
};

/// All that a person needs to choose the threshold of one tensor: what the methods say, what every threshold costs, and the
/// figures of any one of them at once. From the statistics alone, as all figures of a calibrated model are.
class ThresholdStudy
{
public:
    static constexpr std::size_t kMostPoints = 512; ///< of a curve

    /// Null when stopped, and for a tensor without values other than zero.
    static std::shared_ptr<const ThresholdStudy> of(std::shared_ptr<const CalibratedTensor> tensor,
                                                    const std::stop_token &stop = {});

    const CalibratedTensor &tensor() const { return *m_tensor; }
    /// minmax, entropy, four percentiles and mse, in this order; a method that fell back has minmax's threshold and says why.
    const std::vector<ThresholdMark> &marks() const { return m_marks; }
    /// Divergence against threshold, as at() has it, at kMostPoints thresholds up to the largest |x|.
    const std::vector<CurvePoint> &divergence() const { return m_divergence; }
    /// What the entropy search compares: its divergence of candidates, the least of each of kMostPoints runs of them. Where
    /// values begin at zero it alternates from candidate to candidate.
    const std::vector<CurvePoint> &searched() const { return m_searched; }
    /// SQNR in dB against threshold, at the thresholds that mse tries.
    const std::vector<CurvePoint> &sqnr() const { return m_sqnr; }

    /// In time proportional to the histogram's bins: well below a millisecond for 8001. Needs: threshold above 0.
    ThresholdFigures at(double threshold) const;
    /// The upper edge of the bin that is nearest, at most the largest |x|: a threshold that the entropy search could choose.
    double snapped(double threshold) const;
    double binWidth() const { return m_folded.width(); }

private:
    explicit ThresholdStudy(std::shared_ptr<const CalibratedTensor> tensor);
    void addMark(ThresholdMethod method, double percentile, const std::stop_token &stop);
    void addSearched(const std::stop_token &stop);
    void addCurves(const std::stop_token &stop);
    std::size_t candidateNear(double threshold) const;

    std::shared_ptr<const CalibratedTensor> m_tensor;
    FoldedHistogram m_folded;
    std::size_t m_levels;
    std::vector<ThresholdMark> m_marks;
    std::vector<CurvePoint> m_divergence;
    std::vector<CurvePoint> m_searched;
    std::vector<CurvePoint> m_sqnr;
};

} // namespace halftone::calibration
