#pragma once

#include "core/base/byte_reader.h"
#include "core/calibration/merging_collector.h"
#include "core/tensor/error_metrics.h"

#include <concepts>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Internal to statistics_file.cpp: numbers and sums as bytes, little-endian.
namespace halftone::shards {

class StatisticsWriter
{
public:
    template <class T>
    requires std::integral<T> || std::floating_point<T>
    void number(T value) { m_bytes.append(reinterpret_cast<const char *>(&value), sizeof value); }
    /// Variable length: 7 bits per byte, least significant first; bit 7 is set in all bytes but the last.
    void packed(std::uint64_t value);
    void text(std::string_view text);
    void sum(const tensor::ExactSum &sum);
    void errors(const tensor::ErrorParts &parts);
    void collected(const calibration::CollectedParts &parts);

    const std::string &bytes() const { return m_bytes; }

private:
    void losses(const calibration::LossSums &losses);

    std::string m_bytes;
};

/// Reads what StatisticsWriter wrote. After the first failure everything read is zero.
class StatisticsReader
{
public:
    explicit StatisticsReader(std::span<const std::byte> bytes)
        : m_reader(bytes)
    {
    }

    template <class T>
    requires std::integral<T> || std::floating_point<T> T number(std::string_view what)
    {
        T value{};
        if (const auto bytes = take(sizeof value, what); bytes.size() == sizeof value)
            std::memcpy(&value, bytes.data(), sizeof value);
        return value;
    }
    std::uint64_t packed(std::string_view what);
    bool flag(std::string_view what);
    /// A number of items of at least `least` bytes each.
    std::size_t count(std::size_t least, std::string_view what);
    std::string text(std::string_view what);
    tensor::ExactSum sum(std::string_view what);
    tensor::ErrorParts errors();
    calibration::MergingCollector collected();

    bool failed() const { return m_error.has_value(); }
    void fail(std::string found, std::string expected = {});
    /// Succeeds if everything was read without failure.
    Result<void> end();

private:
    std::span<const std::byte> take(std::size_t count, std::string_view what);
    calibration::LossSums losses();

    ByteReader m_reader;
    std::optional<Error> m_error;
};

} // namespace halftone::shards
