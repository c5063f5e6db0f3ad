#include "core/backends/onednn/loops/code_average.h"

#include "core/backends/onednn/loops/round_even.h"

#include <algorithm>
#include <utility>

namespace halftone::backends::onednn {
namespace {

/// Reals to codes, ties to even, saturated.
template <typename Code>
class Coder
{
public:
    explicit Coder(const ops::CodeScale &scale)
        : m_step(static_cast<float>(scale.step))
        , m_zero(static_cast<float>(scale.zero))
        , m_least(static_cast<float>(scale.least() - scale.zero))
        , m_most(static_cast<float>(scale.most() - scale.zero))
    {
    }

    Code operator()(float real) const
    {
        const float quotient = std::min(std::max(m_least, real / m_step), m_most);
        return static_cast<Code>(static_cast<std::int32_t>(roundEven(quotient) + m_zero));
    }

private:
    float m_step;
    float m_zero;
    float m_least;
    float m_most;
};

template <typename From, typename To>
class AverageKernel final : public kernels::Kernel
{
public:
    AverageKernel(const AverageWindows &windows, const ops::CodeScale &data, const ops::CodeScale &result)
        : m_windows(windows)
        , m_data(data)
        , m_code(result)
    {
    }

    std::string name() const override { return "own codes"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const from = reinterpret_cast<const From *>(inputs[0]);
        auto *const to = reinterpret_cast<To *>(outputs[0]);
        const std::int64_t places = m_windows.to[0] * m_windows.to[1] * m_windows.to[2];
        const std::int64_t blocks = (m_windows.channels + kBlock - 1) / kBlock;
#pragma omp parallel for collapse(2) schedule(static)
        for (std::int64_t at = 0; at < m_windows.pictures * places; ++at)
            for (std::int64_t block = 0; block < blocks; ++block)
                average(from, to, at, block * kBlock);
        return {};
    }

private:
    static constexpr std::int64_t kBlock = 256; ///< channels

    struct Range
    {
        std::int64_t begin = 0;
        std::int64_t end = 0;
    };

    Range covered(std::int64_t at, std::size_t axis) const
    {
        const std::int64_t first = at * m_windows.stride[axis] - m_windows.padBegin[axis];
        return {std::max<std::int64_t>(first, 0),
                std::min(first + m_windows.kernel[axis], m_windows.from[axis])};
    }

    void average(const From *from, To *to, std::int64_t at, std::int64_t channel) const
    {
        const std::int64_t width = std::min(kBlock, m_windows.channels - channel);
        const auto &size = m_windows.to;
        const std::int64_t places = size[0] * size[1] * size[2];
        const std::int64_t place = at % places;
        const std::array<Range, 3> ranges{covered(place / (size[1] * size[2]), 0),
                                          covered(place / size[2] % size[1], 1), covered(place % size[2], 2)};
        std::array<double, kBlock> sums{};
        std::int64_t taps = 0;
        for (std::int64_t d = ranges[0].begin; d < ranges[0].end; ++d)
            for (std::int64_t h = ranges[1].begin; h < ranges[1].end; ++h)
                for (std::int64_t w = ranges[2].begin; w < ranges[2].end; ++w, ++taps)
                    add(from + offsetOf(at / places, d, h, w) + channel, width, sums.data());
        const auto &kernel = m_windows.kernel;
        const std::int64_t count = m_windows.countsPadding ? kernel[0] * kernel[1] * kernel[2] : taps;
        To *const row = to + at * m_windows.channels + channel;
        for (std::int64_t c = 0; c < width; ++c)
            row[c] = m_code(static_cast<float>(
                count > 0 ? sums[static_cast<std::size_t>(c)] / static_cast<double>(count) : 0));
    }

    std::int64_t offsetOf(std::int64_t picture, std::int64_t d, std::int64_t h, std::int64_t w) const
    {
        const auto &size = m_windows.from;
        return (((picture * size[0] + d) * size[1] + h) * size[2] + w) * m_windows.channels;
    }

    /// In double, which holds the sum of so many float32 of like size exactly, in every order.
    void add(const From *from, std::int64_t width, double *sums) const
    {
        const auto step = static_cast<float>(m_data.step);
#pragma omp simd
        for (std::int64_t c = 0; c < width; ++c)
            sums[c] += double{static_cast<float>(from[c] - m_data.zero) * step};
    }

    AverageWindows m_windows;
    ops::CodeScale m_data;
    Coder<To> m_code;
};

template <typename First, typename Second, typename To>
class MultiplyKernel final : public kernels::Kernel
{
public:
    MultiplyKernel(std::int64_t rows, std::int64_t channels, std::int64_t repeats,
                   const ops::CodedMultiply &scales)
        : m_rows(rows)
        , m_channels(channels)
        , m_repeats(repeats)
        , m_steps{static_cast<float>(scales.first.step), static_cast<float>(scales.second.step)}
        , m_zeros{scales.first.zero, scales.second.zero}
        , m_code(scales.result)
    {
    }

    std::string name() const override { return "own codes"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto *const first = reinterpret_cast<const First *>(inputs[0]);
        const auto *const second = reinterpret_cast<const Second *>(inputs[1]);
        auto *const to = reinterpret_cast<To *>(outputs[0]);
#pragma omp parallel for schedule(static)
        for (std::int64_t row = 0; row < m_rows; ++row)
            multiply(first + row * m_channels, second + row / m_repeats * m_channels, to + row * m_channels);
        return {};
    }

private:
    void multiply(const First *a, const Second *b, To *to) const
    {
#pragma omp simd
        for (std::int64_t c = 0; c < m_channels; ++c)
            to[c] = m_code(static_cast<float>(a[c] - m_zeros.first) * m_steps.first
                           * (static_cast<float>(b[c] - m_zeros.second) * m_steps.second));
    }

    std::int64_t m_rows;
    std::int64_t m_channels;
    std::int64_t m_repeats;
    std::pair<float, float> m_steps;
    std::pair<std::int32_t, std::int32_t> m_zeros;
    Coder<To> m_code;
};

/// `make` called with a number of the C++ type of codes.
template <class F>
std::unique_ptr<kernels::Kernel> ofType(tensor::DType type, const F &make)
{
    return type == tensor::DType::I8 ? make(std::int8_t{}) : make(std::uint8_t{});
}

} // namespace

std::unique_ptr<kernels::Kernel> codeAverageKernel(const AverageWindows &windows, const ops::CodeScale &data,
                                                   const ops::CodeScale &result)
{
    return ofType(data.type, [&](auto from) {
        return ofType(result.type, [&](auto to) -> std::unique_ptr<kernels::Kernel> {
            return std::make_unique<AverageKernel<decltype(from), decltype(to)>>(windows, data, result);
        });
    });
}

std::unique_ptr<kernels::Kernel> codeMultiplyKernel(std::int64_t rows, std::int64_t channels,
                                                    std::int64_t repeats, const ops::CodedMultiply &scales)
{
    return ofType(scales.first.type, [&](auto first) {
        return ofType(scales.second.type, [&](auto second) {
            return ofType(scales.result.type, [&](auto to) -> std::unique_ptr<kernels::Kernel> {
                return std::make_unique<MultiplyKernel<decltype(first), decltype(second), decltype(to)>>(
                    rows, channels, repeats, scales);
            });
        });
    });
}

} // namespace halftone::backends::onednn
