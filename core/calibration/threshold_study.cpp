#include "core/calibration/threshold_study.h"

#include "core/calibration/entropy.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace halftone::calibration {
namespace {

constexpr std::array kPercentiles{99.0, 99.9, 99.99, 99.999};

/// The type of codes that gave the tensor its range.
CodeType codesOf(const CalibratedTensor &tensor)
{
    return tensor.threshold.range == CodeRange::OneSided ? CodeType::Auto : CodeType::Int8;
}

std::size_t levelsOf(const CalibratedTensor &tensor)
{
    return tensor.threshold.range == CodeRange::OneSided ? kUnsignedLevels : kSignedLevels;
}

} // namespace

ThresholdStudy::ThresholdStudy(std::shared_ptr<const CalibratedTensor> tensor)
    : m_tensor(std::move(tensor))
    , m_folded(m_tensor->statistics)
    , m_levels(levelsOf(*m_tensor))
{
}

std::shared_ptr<const ThresholdStudy> ThresholdStudy::of(std::shared_ptr<const CalibratedTensor> tensor,
                                                         const std::stop_token &stop)
{
    if (tensor->statistics.absMax == 0)
        return nullptr;
    std::shared_ptr<ThresholdStudy> study(new ThresholdStudy(std::move(tensor)));
    study->addMark(ThresholdMethod::MinMax, 0, stop);
    study->addMark(ThresholdMethod::Entropy, 0, stop);
    for (const double percentile : kPercentiles)
        study->addMark(ThresholdMethod::Percentile, percentile, stop);
    study->addMark(ThresholdMethod::Mse, 0, stop);
    study->addSearched(stop);
    study->addCurves(stop);
    return stop.stop_requested() ? nullptr : study;
}

void ThresholdStudy::addMark(ThresholdMethod method, double percentile, const std::stop_token &stop)
{
    if (stop.stop_requested())
        return;
    ThresholdMark mark;
    mark.options.method = method;
    mark.options.codes = codesOf(*m_tensor);
    if (percentile > 0)
        mark.options.percentile = percentile;
    mark.threshold = chooseThreshold(m_tensor->statistics, mark.options, stop);
    mark.clipped = m_folded.clippedShare(mark.threshold.value);
    m_marks.push_back(std::move(mark));
}

void ThresholdStudy::addSearched(const std::stop_token &stop)
{
    const Histogram &histogram = m_tensor->statistics.histogram;
    const auto curve = divergenceCurve(histogram, m_levels, stop);
    const std::size_t count = curve.divergences.size();
    const std::size_t run = std::max<std::size_t>(1, (count + kMostPoints - 1) / kMostPoints);
    const std::size_t middle = histogram.bins() / 2;
    for (std::size_t begin = 0; begin < count; begin += run) {
        const auto first = curve.divergences.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = first + static_cast<std::ptrdiff_t>(std::min(run, count - begin));
        const auto least = std::min_element(first, last);
        const auto candidate = curve.first + static_cast<std::size_t>(least - curve.divergences.begin());
        if (std::isfinite(*least))
            m_searched.push_back({double{histogram.edge(middle + candidate + 1)}, *least});
    }
}

void ThresholdStudy::addCurves(const std::stop_token &stop)
{
    const double largest = m_tensor->statistics.absMax;
    for (std::size_t k = 1; k <= kMostPoints && !stop.stop_requested(); ++k) {
        const double threshold = largest * static_cast<double>(k) / static_cast<double>(kMostPoints);
        m_divergence.push_back({threshold, m_folded.divergence(threshold, m_tensor->threshold.range)});
    }
    for (int step = 1; step <= kMseSteps && !stop.stop_requested(); ++step) {
        const double threshold = largest * step / kMseSteps;
        if (const auto sqnr = m_folded.sqnrDb(threshold, m_tensor->threshold.range))
            m_sqnr.push_back({threshold, *sqnr});
    }
}

std::size_t ThresholdStudy::candidateNear(double threshold) const
{
    // Candidate k keeps k bins on either side of the middle one, whose half is the first folded bin.
    const double place = std::round(threshold / m_folded.width() - 0.5);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(m_folded.size() - 1)));
}

double ThresholdStudy::snapped(double threshold) const
{
    const Histogram &histogram = m_tensor->statistics.histogram;
    const double edge = double{histogram.edge(histogram.bins() / 2 + candidateNear(threshold) + 1)};
    return std::min(edge, m_tensor->statistics.absMax);
}

ThresholdFigures ThresholdStudy::at(double threshold) const
{
    const CodeRange range = m_tensor->threshold.range;
    return {threshold, m_folded.clippedShare(threshold), m_folded.divergence(threshold, range),
            m_folded.sqnrDb(threshold, range)};
}

} // namespace halftone::calibration
