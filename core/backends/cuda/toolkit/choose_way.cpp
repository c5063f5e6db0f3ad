#include "core/backends/cuda/toolkit/choose_way.h"

#include "core/backends/cuda/arena.h"

#include <algorithm>
#include <bit>

namespace halftone::backends::cuda {
namespace {

constexpr int kRuns
    = 8; ///< of each way, one behind the other: a single one is shorter than what events can tell
constexpr double kClearly = 0.98;

void tell(std::string &key, const View &view)
{
    key += std::string(tensor::nameOf(view.dtype)) + '+' + std::to_string(view.offset);
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        key += ',' + std::to_string(view.dims[axis]) + '/' + std::to_string(view.strides[axis]);
    key += ';';
}

void tell(std::string &key, const Dims &values)
{
    for (const std::int64_t value : values)
        key += std::to_string(value) + ',';
    key += ';';
}

std::size_t bytesOf(const View &view)
{
    std::int64_t last = view.offset;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        last
            += std::max<std::int64_t>(view.dims[axis] - 1, 0) * std::max<std::int64_t>(view.strides[axis], 0);
    return static_cast<std::size_t>(last + 1) * tensor::sizeOf(view.dtype);
}

/// Memory for a product's arguments and workspace, and what times a run of it.
class Timing
{
public:
    Timing(Gpu &gpu, Product &product)
        : m_gpu(gpu)
        , m_product(product)
    {
    }

    Result<void> prepare(std::span<const std::size_t> argumentBytes, const Clear &clear)
    {
        std::size_t workspace = 0;
        for (std::size_t way = 0; way < m_product.wayCount(); ++way) {
            m_product.useWay(way);
            workspace = std::max(workspace, m_product.workspaceBytes());
        }
        std::size_t bytes = 0;
        std::vector<std::size_t> offsets;
        for (const std::size_t of : argumentBytes) {
            offsets.push_back(bytes);
            bytes += alignedUp(of);
        }
        HALFTONE_TRY(m_memory, m_gpu.allocate(bytes + alignedUp(workspace), "algorithms that are timed"));
        HALFTONE_CHECK(clear(m_memory.get(), bytes + alignedUp(workspace)));
        for (const std::size_t offset : offsets)
            m_arguments.push_back(m_memory.get() + offset);
        m_workspace = m_memory.get() + bytes;
        HALFTONE_TRY(m_timer, m_gpu.makeTimer(2));
        return {};
    }

    /// Of the way in use. As a graph, for what a launch costs the host is not the algorithm's; run once before, for libraries load
    /// kernels when these are first called.
    Result<double> microseconds()
    {
        HALFTONE_CHECK(m_product.enqueue(m_arguments, m_workspace));
        HALFTONE_CHECK(m_gpu.synchronize());
        HALFTONE_TRY(const std::unique_ptr<Recording> runs, recorded(m_gpu, [this]() -> Result<void> {
                         for (int k = 0; k < kRuns; ++k)
                             HALFTONE_CHECK(m_product.enqueue(m_arguments, m_workspace));
                         return {};
                     }));
        HALFTONE_CHECK(m_gpu.replay(*runs));
        HALFTONE_CHECK(m_timer->mark(0));
        HALFTONE_CHECK(m_gpu.replay(*runs));
        HALFTONE_CHECK(m_timer->mark(1));
        HALFTONE_CHECK(m_gpu.synchronize());
        return m_timer->microseconds(0);
    }

private:
    Gpu &m_gpu;
    Product &m_product;
    DeviceMemory m_memory;
    std::vector<std::byte *> m_arguments;
    std::byte *m_workspace = nullptr;
    std::unique_ptr<Timer> m_timer;
};

} // namespace

std::string keyOf(const ProductDesc &desc)
{
    std::string key = desc.isConvolution ? "convolution;" : "product;";
    for (const View *view : {&desc.a, &desc.b, &desc.c})
        tell(key, *view);
    for (const Dims *dims : {&desc.stride, &desc.dilate, &desc.padBegin, &desc.padEnd})
        tell(key, *dims);
    tell(key,
         Dims{desc.groups, desc.hasBias, static_cast<std::int64_t>(desc.activation), desc.allowsTf32,
              desc.residual.has_value(), desc.ceiling.has_value()});
    if (desc.residual)
        tell(key, *desc.residual);
    for (const double value : {desc.ceiling.value_or(0), desc.scale}) // to the last bit
        key += std::to_string(std::bit_cast<std::uint64_t>(value)) + ';';
    return key;
}

std::string keyOf(const AttentionDesc &desc)
{
    std::string key = "attention;";
    for (const View *view : {&desc.queries, &desc.keys, &desc.values, &desc.result})
        tell(key, *view);
    if (desc.mask)
        tell(key, *desc.mask);
    return key;
}

std::vector<std::size_t> argumentBytes(const ProductDesc &desc)
{
    std::vector<std::size_t> bytes{bytesOf(desc.a), bytesOf(desc.b)};
    if (desc.hasBias) // one value a channel, or a column
        bytes.push_back(static_cast<std::size_t>(desc.isConvolution ? desc.c.dims[1] : desc.c.dims.back())
                        * tensor::sizeOf(desc.c.dtype));
    if (desc.residual)
        bytes.push_back(bytesOf(*desc.residual));
    bytes.push_back(bytesOf(desc.c));
    return bytes;
}

std::vector<std::size_t> argumentBytes(const AttentionDesc &desc)
{
    std::vector<std::size_t> bytes{bytesOf(desc.queries), bytesOf(desc.keys), bytesOf(desc.values),
                                   sizeof(float)}; // the scale
    if (desc.mask)
        bytes.push_back(bytesOf(*desc.mask));
    bytes.push_back(bytesOf(desc.result));
    return bytes;
}

std::size_t quickestWay(Gpu &gpu, Product &product, std::span<const std::size_t> argumentBytes,
                        const Clear &clear)
{
    if (product.wayCount() < 2)
        return 0;
    Timing timing(gpu, product);
    if (!timing.prepare(argumentBytes, clear).ok())
        return 0;
    std::size_t best = 0;
    double least = 0;
    for (std::size_t way = 0; way < product.wayCount(); ++way) {
        product.useWay(way);
        const auto time = timing.microseconds();
        if (!time.ok() && way == 0) // nothing to compare with
            return 0;
        if (time.ok() && (way == 0 || time.value() < kClearly * least)) {
            best = way;
            least = time.value();
        }
    }
    return best;
}

} // namespace halftone::backends::cuda
