#include "core/backends/onednn/loops/channel_norm_kernel.h"

#include "core/base/vector_loops.h"
#include "core/tensor/half_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace halftone::backends::onednn {
namespace {

constexpr std::int64_t kPlacesAtOnce = 4096; // which stay in the first cache
constexpr std::int64_t kWorthSharing = 16384; // elements

struct Affine
{
    float mean = 0;
    float scale = 1;
    float shift = 0;
};

struct Normalise
{
    [[gnu::always_inline]] static void run(const float *from, std::size_t count, Affine change, float *to)
    {
#pragma GCC ivdep // in place or elsewhere
        for (std::size_t k = 0; k < count; ++k)
            to[k] = (from[k] - change.mean) * change.scale + change.shift;
    }
};

class ChannelNormKernel final : public kernels::Kernel
{
public:
    explicit ChannelNormKernel(const ChannelNorm &norm)
        : m_norm(norm)
    {
    }

    std::string name() const override { return "own loop"; }

    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        const auto floats = [&](std::size_t input) { return reinterpret_cast<const float *>(inputs[input]); };
        const float *const beta = floats(1);
        const float *const mean = floats(2);
        const float *const variance = floats(3);
        const float *const gamma = m_norm.hasGamma ? floats(4) : nullptr;
        const std::size_t rowBytes = static_cast<std::size_t>(m_norm.places) * tensor::sizeOf(m_norm.type);
        const std::int64_t rows = m_norm.batch * m_norm.channels;
#pragma omp parallel for schedule(static) if (rows * m_norm.places >= kWorthSharing)
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::int64_t c = row % m_norm.channels;
            const float root = std::sqrt(variance[c] + m_norm.epsilon);
            const Affine change{mean[c], (gamma != nullptr ? gamma[c] : 1) / root, beta[c]};
            const std::size_t at = static_cast<std::size_t>(row) * rowBytes;
            normalise(inputs[0] + at, change, outputs[0] + at);
        }
        return {};
    }

private:
    void normalise(const std::byte *from, const Affine &change, std::byte *to) const
    {
        if (m_norm.type == tensor::DType::F32)
            return runFastest<Normalise>(reinterpret_cast<const float *>(from),
                                         static_cast<std::size_t>(m_norm.places), change,
                                         reinterpret_cast<float *>(to));
        alignas(64) std::array<float, kPlacesAtOnce> wide;
        const std::size_t size = tensor::sizeOf(m_norm.type);
        for (std::int64_t first = 0; first < m_norm.places; first += kPlacesAtOnce) {
            const auto count = static_cast<std::size_t>(std::min(kPlacesAtOnce, m_norm.places - first));
            const std::size_t at = static_cast<std::size_t>(first) * size;
            tensor::widenHalves(m_norm.type, from + at, count, wide.data());
            runFastest<Normalise>(static_cast<const float *>(wide.data()), count, change, wide.data());
            tensor::narrowToHalves(wide.data(), count, m_norm.type, to + at);
        }
    }

    ChannelNorm m_norm;
};

} // namespace

std::unique_ptr<kernels::Kernel> channelNormKernel(const ChannelNorm &norm)
{
    return std::make_unique<ChannelNormKernel>(norm);
}

} // namespace halftone::backends::onednn
