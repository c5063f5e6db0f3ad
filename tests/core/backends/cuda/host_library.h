#pragma once

#include "core/backends/cuda/element_kernel.h"
#include "core/tensor/elements.h"
#include "tests/core/backends/cuda/host_gpu.h"

#include <cmath>
#include <functional>
#include <utility>

namespace halftone::test {

/// What a library is asked for, computed on this machine in double by the definition: over the views, windows, groups and epilogue that
/// the plan told.
class HostProduct final : public backends::cuda::Product
{
public:
    using View = backends::cuda::View;
    using Dims = backends::cuda::Dims;
    using Act = std::function<Result<void>(std::function<void()>)>;

    HostProduct(backends::cuda::ProductDesc desc, Act act)
        : m_desc(std::move(desc))
        , m_act(std::move(act))
    {
    }

    std::string name() const override { return "library product"; }
    std::size_t workspaceBytes() const override { return 512; }
    std::optional<double> microseconds() const override { return time; }

    std::optional<double> time; ///< that it is said to take
    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        if (workspace == nullptr)
            return unsupported("host", "no workspace");
        return m_act(
            [this, at = std::vector<std::byte *>(arguments.begin(), arguments.end())] { compute(at); });
    }

    static double get(const View &view, const Dims &at, const std::byte *memory)
    {
        double value = 0;
        tensor::widen(view.dtype, memory + place(view, at) * tensor::sizeOf(view.dtype), 1, &value);
        return value;
    }
    static std::size_t place(const View &view, const Dims &at)
    {
        std::int64_t place = view.offset;
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            place += at[axis] * view.strides[axis];
        return static_cast<std::size_t>(place);
    }

private:
    double convolved(const std::vector<std::byte *> &at, const Dims &to) const
    {
        const std::int64_t channels = m_desc.b.dims[1];
        const std::int64_t group = to[1] / (m_desc.c.dims[1] / m_desc.groups);
        const Dims kernel(m_desc.b.dims.begin() + 1, m_desc.b.dims.end());
        double sum = 0;
        Dims tap(kernel.size(), 0);
        for (std::int64_t i = 0; i < backends::cuda::countOf(kernel); ++i) {
            Dims from{to[0], group * channels + tap[0]};
            Dims of{to[1], tap[0]};
            bool isInside = true;
            for (std::size_t k = 0; k < m_desc.stride.size(); ++k) {
                from.push_back(to[k + 2] * m_desc.stride[k] - m_desc.padBegin[k]
                               + tap[k + 1] * m_desc.dilate[k]);
                of.push_back(tap[k + 1]);
                isInside = isInside && from.back() >= 0 && from.back() < m_desc.a.dims[k + 2];
            }
            if (isInside)
                sum += get(m_desc.a, from, at[0]) * get(m_desc.b, of, at[1]);
            for (std::size_t axis = tap.size(); axis-- > 0 && ++tap[axis] == kernel[axis];)
                tap[axis] = 0;
        }
        return sum;
    }

    double multiplied(const std::vector<std::byte *> &at, const Dims &to) const
    {
        const std::size_t rank = to.size();
        Dims left = to;
        Dims right = to;
        double sum = 0;
        for (std::int64_t k = 0; k < m_desc.a.dims[rank - 1]; ++k) {
            left[rank - 1] = right[rank - 2] = k;
            sum += get(m_desc.a, left, at[0]) * get(m_desc.b, right, at[1]);
        }
        return sum;
    }

    double activated(double x) const
    {
        using backends::cuda::Activation;
        switch (m_desc.activation) {
        case Activation::None:
            return x;
        case Activation::Relu:
            return std::min(std::max(x, 0.0), m_desc.ceiling.value_or(INFINITY));
        case Activation::GeluErf:
            return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
        case Activation::GeluTanh:
            return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
        case Activation::Sigmoid:
            return 1 / (1 + std::exp(-x));
        case Activation::Tanh:
            return std::tanh(x);
        case Activation::Swish:
            return x / (1 + std::exp(-x));
        }
        return x;
    }

    void compute(const std::vector<std::byte *> &at) const
    {
        const Dims &dims = m_desc.c.dims;
        const View vector{m_desc.c.dtype, {dims[m_desc.isConvolution ? 1 : dims.size() - 1]}, {1}, 0};
        Dims to(dims.size(), 0);
        for (std::int64_t i = 0; i < backends::cuda::countOf(dims); ++i) {
            double value = m_desc.scale * (m_desc.isConvolution ? convolved(at, to) : multiplied(at, to));
            if (m_desc.hasBias)
                value += get(vector, {to[m_desc.isConvolution ? 1 : dims.size() - 1]}, at[2]);
            if (m_desc.residual)
                value += get(*m_desc.residual, to, at[at.size() - 2]);
            value = activated(value);
            tensor::narrow(&value, 1, m_desc.c.dtype,
                           at.back() + place(m_desc.c, to) * tensor::sizeOf(m_desc.c.dtype));
            for (std::size_t axis = to.size(); axis-- > 0 && ++to[axis] == dims[axis];)
                to[axis] = 0;
        }
    }

    backends::cuda::ProductDesc m_desc;
    Act m_act;
};

/// Attention by its definition, in double, over the views that the plan told.
class HostAttention final : public backends::cuda::Product
{
public:
    using View = backends::cuda::View;
    using Dims = backends::cuda::Dims;

    HostAttention(backends::cuda::AttentionDesc desc, HostProduct::Act act)
        : m_desc(std::move(desc))
        , m_act(std::move(act))
    {
    }

    std::string name() const override { return "library attention"; }
    std::size_t workspaceBytes() const override { return 0; }
    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *) override
    {
        return m_act(
            [this, at = std::vector<std::byte *>(arguments.begin(), arguments.end())] { compute(at); });
    }

private:
    void compute(const std::vector<std::byte *> &at) const
    {
        float scale = 0;
        std::memcpy(&scale, at[3], sizeof scale);
        const Dims &queries = m_desc.queries.dims;
        const std::int64_t keys = m_desc.keys.dims[2];
        for (Dims to{0, 0, 0, 0}; to[0] < queries[0]; ++to[0])
            for (to[1] = 0; to[1] < queries[1]; ++to[1])
                for (to[2] = 0; to[2] < queries[2]; ++to[2])
                    computeRow(at, to, keys, double{scale});
    }

    void computeRow(const std::vector<std::byte *> &at, Dims to, std::int64_t keys, double scale) const
    {
        std::vector<double> weights;
        double most = -INFINITY;
        for (std::int64_t k = 0; k < keys; ++k) {
            double score = 0;
            for (std::int64_t d = 0; d < m_desc.queries.dims[3]; ++d)
                score += HostProduct::get(m_desc.queries, {to[0], to[1], to[2], d}, at[0])
                    * HostProduct::get(m_desc.keys, {to[0], to[1], k, d}, at[1]);
            score *= scale;
            if (m_desc.mask)
                score += HostProduct::get(*m_desc.mask, {to[0], to[1], to[2], k}, at[4]);
            weights.push_back(score);
            most = std::max(most, score);
        }
        double sum = 0;
        for (double &weight : weights)
            sum += weight = std::exp(weight - most);
        for (to[3] = 0; to[3] < m_desc.values.dims[3]; ++to[3]) {
            double value = 0;
            for (std::int64_t k = 0; k < keys; ++k)
                value += weights[static_cast<std::size_t>(k)] / sum
                    * HostProduct::get(m_desc.values, {to[0], to[1], k, to[3]}, at[2]);
            tensor::narrow(&value, 1, m_desc.result.dtype,
                           at.back()
                               + HostProduct::place(m_desc.result, to) * tensor::sizeOf(m_desc.result.dtype));
        }
    }

    backends::cuda::AttentionDesc m_desc;
    HostProduct::Act m_act;
};

/// This machine with libraries: what `judge` takes is computed by HostProduct, attention that it takes by HostAttention.
class LibraryGpu final : public HostGpu
{
public:
    using Judge = std::function<Result<void>(const backends::cuda::ProductDesc &)>;
    using AttentionJudge = std::function<Result<void>(const backends::cuda::AttentionDesc &)>;

    explicit LibraryGpu(Judge judge, int arch = 90, AttentionJudge attention = {})
        : HostGpu(arch)
        , m_judge(std::move(judge))
        , m_attention(std::move(attention))
    {
    }

    bool hasLibraries() const override { return true; }
    Result<std::unique_ptr<backends::cuda::Product>> prepare(const backends::cuda::ProductDesc &desc) override
    {
        asked.push_back(desc);
        HALFTONE_CHECK(m_judge(desc));
        ++taken;
        auto product = std::make_unique<HostProduct>(
            desc, [this](std::function<void()> action) { return act(std::move(action)); });
        if (timeOf)
            product->time = timeOf(desc);
        return std::unique_ptr<backends::cuda::Product>(std::move(product));
    }
    Result<std::unique_ptr<backends::cuda::Product>>
    prepareAttention(const backends::cuda::AttentionDesc &desc) override
    {
        if (!m_attention)
            return unsupported("host", "no fused attention");
        HALFTONE_CHECK(m_attention(desc));
        ++attentions;
        return std::unique_ptr<backends::cuda::Product>(std::make_unique<HostAttention>(
            desc, [this](std::function<void()> action) { return act(std::move(action)); }));
    }

    std::function<double(const backends::cuda::ProductDesc &)>
        timeOf; ///< microseconds; empty: it times nothing
    std::vector<backends::cuda::ProductDesc> asked;
    std::size_t taken = 0;
    std::size_t attentions = 0;

private:
    Judge m_judge;
    AttentionJudge m_attention;
};

} // namespace halftone::test
