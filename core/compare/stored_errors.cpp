#include "core/compare/stored_errors.h"

#include <bit>

namespace halftone::compare {
namespace {

constexpr std::size_t kCounts = 5;

using Words = std::vector<std::uint64_t>;

void put(const tensor::ExactSum::Parts &parts, Words &words)
{
    words.insert(
        words.end(),
        {parts.first, parts.digits.size(), parts.nan, parts.positiveInfinite, parts.negativeInfinite});
    for (const std::int64_t digit : parts.digits)
        words.push_back(std::bit_cast<std::uint64_t>(digit));
}

tensor::ExactSum::Parts takeSum(const Words &words, std::size_t &at)
{
    tensor::ExactSum::Parts parts{
        static_cast<std::uint32_t>(words[at]), {}, words[at + 2], words[at + 3], words[at + 4]};
    const std::size_t digits = words[at + 1];
    at += 5;
    for (std::size_t k = 0; k < digits; ++k)
        parts.digits.push_back(std::bit_cast<std::int64_t>(words[at++]));
    return parts;
}

} // namespace

StoredErrors::StoredErrors(const tensor::ErrorParts &parts)
{
    Words words{parts.count, parts.nan, parts.overflow, parts.undefined,
                std::bit_cast<std::uint64_t>(parts.largest)};
    for (const tensor::ExactSum &sum : parts.sums)
        put(sum.parts(), words);
    for (const auto &[r, d] : parts.envelope)
        words.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(r)} << 32
                        | std::bit_cast<std::uint32_t>(d));
    m_words.assign(words.begin(), words.end()); // no larger than they are
}

tensor::ErrorParts StoredErrors::parts() const
{
    tensor::ErrorParts parts;
    if (m_words.empty())
        return parts;
    parts.count = m_words[0];
    parts.nan = m_words[1];
    parts.overflow = m_words[2];
    parts.undefined = m_words[3];
    parts.largest = std::bit_cast<double>(m_words[4]);
    std::size_t at = kCounts;
    for (tensor::ExactSum &sum : parts.sums)
        sum.takeParts(takeSum(m_words, at));
    for (; at < m_words.size(); ++at)
        parts.envelope.emplace_back(std::bit_cast<float>(static_cast<std::uint32_t>(m_words[at] >> 32)),
                                    std::bit_cast<float>(static_cast<std::uint32_t>(m_words[at])));
    return parts;
}

} // namespace halftone::compare
