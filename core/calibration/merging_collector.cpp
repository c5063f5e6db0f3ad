#include "core/calibration/merging_collector.h"

#include <algorithm>
#include <cmath>

namespace halftone::calibration {
namespace {

/// Counts and greatest errors; sums are exact ones' business.
void addLosses(const LossSums &from, LossSums &to)
{
    LossSums counts = from;
    counts.relativeSum = 0;
    counts.signal = 0;
    counts.noise = 0;
    to.add(counts);
}

void addSum(double value, tensor::ExactSum &to)
{
    if (value != 0)
        to.add(value);
}

void addLossSums(const LossSums &from, std::span<tensor::ExactSum> to)
{
    addSum(from.relativeSum, to[0]);
    addSum(from.signal, to[1]);
    addSum(from.noise, to[2]);
}

void takeLossSums(std::span<const tensor::ExactSum> from, LossSums &to)
{
    to.relativeSum = from[0].value();
    to.signal = from[1].value();
    to.noise = from[2].value();
}

} // namespace

void MergingCollector::addExample(std::span<const float> values)
{
    Tally example;
    const float absMax = example.add(values, m_detail);
    m_histogram.add(values, absMax);
    m_parts.counts.addCounts(example);
    addSums(example);
}

void MergingCollector::addSums(const Tally &example)
{
    addLosses(example.fp16, m_parts.counts.fp16);
    addLosses(example.bf16, m_parts.counts.bf16);
    addLossSums(example.fp16, std::span(m_parts.losses).first(3));
    addLossSums(example.bf16, std::span(m_parts.losses).last(3));
    if (example.moments == 0)
        return;
    m_parts.counts.moments += example.moments;
    // count * mean and count * mean², as pairs of doubles that are exact.
    const auto count = static_cast<double>(example.moments);
    const double high = count * example.mean;
    const double low = std::fma(count, example.mean, -high);
    addSum(high, m_parts.sum);
    addSum(low, m_parts.sum);
    m_parts.meanSquares.addProduct(high, example.mean);
    m_parts.meanSquares.addProduct(low, example.mean);
    addSum(example.squares, m_parts.squares);
}

void MergingCollector::add(const MergingCollector &other)
{
    m_histogram.add(other.m_histogram);
    m_parts.counts.addCounts(other.m_parts.counts);
    addLosses(other.m_parts.counts.fp16, m_parts.counts.fp16);
    addLosses(other.m_parts.counts.bf16, m_parts.counts.bf16);
    m_parts.counts.moments += other.m_parts.counts.moments;
    for (std::size_t k = 0; k < m_parts.losses.size(); ++k)
        m_parts.losses[k].add(other.m_parts.losses[k]);
    m_parts.sum.add(other.m_parts.sum);
    m_parts.squares.add(other.m_parts.squares);
    m_parts.meanSquares.add(other.m_parts.meanSquares);
}

TensorStatistics MergingCollector::statistics() const
{
    Tally tally = m_parts.counts;
    takeLossSums(std::span(m_parts.losses).first(3), tally.fp16);
    takeLossSums(std::span(m_parts.losses).last(3), tally.bf16);
    if (tally.moments > 0) {
        // Sums of 100 bits leave what the difference takes away; long double has more than double, where there is one.
        const auto whole = [](const tensor::ExactSum::Split &sum) {
            return static_cast<long double>(sum.high) + static_cast<long double>(sum.low);
        };
        const auto count = static_cast<long double>(tally.moments);
        const long double sum = whole(m_parts.sum.split());
        const long double between = whole(m_parts.meanSquares.split()) - sum * sum / count;
        tally.mean = static_cast<double>(sum / count);
        tally.squares = m_parts.squares.value() + static_cast<double>(std::max(between, 0.0L));
    }
    TensorStatistics statistics = tally.statistics();
    statistics.histogram = m_histogram.histogram();
    statistics.histogram.pack();
    return statistics;
}

CollectedParts MergingCollector::parts() const
{
    CollectedParts parts = m_parts;
    parts.histogram = m_histogram.parts();
    return parts;
}

bool MergingCollector::takeParts(const CollectedParts &parts)
{
    if (!m_histogram.takeParts(parts.histogram))
        return false;
    m_parts = parts;
    m_parts.histogram = {};
    return true;
}

} // namespace halftone::calibration
