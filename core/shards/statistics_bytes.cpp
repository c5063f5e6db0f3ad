#include "core/shards/statistics_bytes.h"

#include <cmath>
#include <utility>

namespace halftone::shards {

using calibration::CollectedParts;
using calibration::LossSums;
using tensor::ErrorParts;
using tensor::ExactSum;

namespace {

constexpr std::uint8_t kMore = 0x80;
constexpr int kPackedBits = 7;

} // namespace

void StatisticsWriter::packed(std::uint64_t value)
{
    for (; value >= kMore; value >>= kPackedBits)
        number(static_cast<std::uint8_t>(value | kMore));
    number(static_cast<std::uint8_t>(value));
}

void StatisticsWriter::text(std::string_view text)
{
    number(static_cast<std::uint32_t>(text.size()));
    m_bytes.append(text);
}

void StatisticsWriter::sum(const ExactSum &sum)
{
    const ExactSum::Parts parts = sum.parts();
    number(parts.nan);
    number(parts.positiveInfinite);
    number(parts.negativeInfinite);
    number(parts.first);
    number(static_cast<std::uint32_t>(parts.digits.size()));
    for (const std::int64_t digit : parts.digits)
        number(digit);
}

void StatisticsWriter::errors(const ErrorParts &parts)
{
    for (const std::uint64_t count : {parts.count, parts.nan, parts.overflow, parts.undefined})
        number(count);
    number(parts.largest);
    for (const ExactSum &one : parts.sums)
        sum(one);
    number(static_cast<std::uint32_t>(parts.envelope.size()));
    for (const auto &[r, d] : parts.envelope) {
        number(r);
        number(d);
    }
}

void StatisticsWriter::losses(const LossSums &losses)
{
    for (const std::uint64_t count :
         {losses.aboveMax, losses.overflow, losses.underflow, losses.kept, losses.relatives})
        number(count);
    number(losses.maxAbs);
    number(losses.maxRelative);
}

void StatisticsWriter::collected(const CollectedParts &parts)
{
    const calibration::Tally &counts = parts.counts;
    for (const std::uint64_t count :
         {counts.count, counts.nan, counts.positiveInfinite, counts.negativeInfinite, counts.zeros,
          counts.negatives, counts.moments})
        number(count);
    for (const float value : {counts.min, counts.max, counts.smallest})
        number(value);
    number(static_cast<std::uint8_t>(counts.hasFinite ? 1 : 0));
    for (const std::uint64_t count : counts.exponents.counts)
        packed(count);
    losses(counts.fp16);
    losses(counts.bf16);
    for (const ExactSum &one : parts.losses)
        sum(one);
    sum(parts.sum);
    sum(parts.squares);
    sum(parts.meanSquares);
    number(static_cast<std::int32_t>(parts.histogram.scale));
    number(parts.histogram.zerosBefore);
    number(parts.histogram.first);
    number(static_cast<std::uint32_t>(parts.histogram.counts.size()));
    for (const std::uint64_t count : parts.histogram.counts)
        packed(count);
}

std::span<const std::byte> StatisticsReader::take(std::size_t count, std::string_view what)
{
    if (m_error)
        return {};
    auto bytes = m_reader.take(count, what);
    if (bytes.ok())
        return bytes.value();
    m_error = std::move(bytes).error();
    return {};
}

void StatisticsReader::fail(std::string found, std::string expected)
{
    if (!m_error)
        m_error = ByteReader::errorAt(m_reader.offset(), std::move(found), std::move(expected));
}

std::uint64_t StatisticsReader::packed(std::string_view what)
{
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += kPackedBits) {
        const auto byte = number<std::uint8_t>(what);
        value |= std::uint64_t{byte} % kMore << shift;
        if (byte < kMore)
            return value;
    }
    fail(std::string(what) + " of more than 64 bits");
    return 0;
}

bool StatisticsReader::flag(std::string_view what)
{
    const auto value = number<std::uint8_t>(what);
    if (value > 1)
        fail(std::string(what) + ' ' + std::to_string(value), "0 or 1");
    return value == 1;
}

std::size_t StatisticsReader::count(std::size_t least, std::string_view what)
{
    const auto value = number<std::uint32_t>(what);
    if (value > m_reader.left() / least)
        fail(std::string(what) + ' ' + std::to_string(value), "at most what fits into the file");
    return failed() ? 0 : value;
}

std::string StatisticsReader::text(std::string_view what)
{
    const auto bytes = take(count(1, what), what);
    return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

ExactSum StatisticsReader::sum(std::string_view what)
{
    ExactSum::Parts parts;
    parts.nan = number<std::uint64_t>(what);
    parts.positiveInfinite = number<std::uint64_t>(what);
    parts.negativeInfinite = number<std::uint64_t>(what);
    parts.first = number<std::uint32_t>(what);
    parts.digits.resize(count(sizeof(std::int64_t), what));
    for (std::int64_t &digit : parts.digits)
        digit = number<std::int64_t>(what);
    ExactSum sum;
    if (!failed() && !sum.takeParts(parts))
        fail(std::string(what) + " with invalid digits");
    return sum;
}

ErrorParts StatisticsReader::errors()
{
    ErrorParts parts;
    for (std::uint64_t *const count : {&parts.count, &parts.nan, &parts.overflow, &parts.undefined})
        *count = number<std::uint64_t>("a count of errors");
    parts.largest = number<double>("the largest error");
    for (ExactSum &one : parts.sums)
        one = sum("a sum of errors");
    parts.envelope.resize(count(2 * sizeof(float), "a number of points"));
    for (auto &[r, d] : parts.envelope) {
        r = number<float>("a point");
        d = number<float>("a point");
        if (!std::isfinite(r) || !std::isfinite(d) || std::signbit(r) || std::signbit(d))
            fail("a point that is negative or not finite");
    }
    if (failed())
        parts.envelope.clear();
    return parts;
}

LossSums StatisticsReader::losses()
{
    LossSums losses;
    for (std::uint64_t *const count :
         {&losses.aboveMax, &losses.overflow, &losses.underflow, &losses.kept, &losses.relatives})
        *count = number<std::uint64_t>("a count of losses");
    losses.maxAbs = number<float>("the largest loss");
    losses.maxRelative = number<double>("the largest relative loss");
    return losses;
}

calibration::MergingCollector StatisticsReader::collected()
{
    CollectedParts parts;
    calibration::Tally &counts = parts.counts;
    for (std::uint64_t *const count :
         {&counts.count, &counts.nan, &counts.positiveInfinite, &counts.negativeInfinite, &counts.zeros,
          &counts.negatives, &counts.moments})
        *count = number<std::uint64_t>("a count of values");
    for (float *const value : {&counts.min, &counts.max, &counts.smallest}) {
        *value = number<float>("a range");
        if (!std::isfinite(*value))
            fail("a range that is not finite");
    }
    counts.hasFinite = flag("whether values are finite");
    for (std::uint64_t &count : counts.exponents.counts)
        count = packed("a count of exponents");
    counts.fp16 = losses();
    counts.bf16 = losses();
    for (ExactSum &one : parts.losses)
        one = sum("a sum of losses");
    parts.sum = sum("the sum of values");
    parts.squares = sum("a sum of squares");
    parts.meanSquares = sum("a sum of squared means");
    parts.histogram.scale = number<std::int32_t>("a scale");
    parts.histogram.zerosBefore = number<std::uint64_t>("a count of zeros");
    parts.histogram.first = number<std::int32_t>("the first bin");
    parts.histogram.counts.resize(count(1, "a number of bins"));
    for (std::uint64_t &count : parts.histogram.counts)
        count = packed("a count of a bin");
    calibration::MergingCollector collector;
    if (!failed() && !collector.takeParts(parts))
        fail("a histogram with an invalid scale or number of bins");
    return collector;
}

Result<void> StatisticsReader::end()
{
    if (!m_error && m_reader.left() > 0)
        fail(std::to_string(m_reader.left()) + " extra bytes at the end");
    return m_error ? Result<void>(*m_error) : Result<void>();
}

} // namespace halftone::shards
