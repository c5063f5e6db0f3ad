#include "core/backends/cuda/toolkit/choose_way.h"

#include "core/backends/cuda/arena.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace halftone::backends::cuda {
namespace {

constexpr int kRuns
    = 8; ///< of each way, one behind the other: a single one is shorter than what events can tell
constexpr int kRounds = 3; ///< of those, of which the quickest counts
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

/// Bytes from its first element to its last.
std::size_t spanOf(const View &view)
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

    Result<void> prepare(std::span<const Argument> arguments, const Fill &fill)
    {
        std::size_t workspace = 0;
        for (std::size_t way = 0; way < m_product.wayCount(); ++way) {
            m_product.useWay(way);
            workspace = std::max(workspace, m_product.workspaceBytes());
        }
        std::size_t bytes = 0;
        std::vector<std::size_t> offsets;
        for (const Argument &argument : arguments) {
            offsets.push_back(bytes);
            bytes += alignedUp(argument.bytes);
        }
        HALFTONE_TRY(m_memory, m_gpu.allocate(bytes + alignedUp(workspace), "algorithms that are timed"));
        HALFTONE_CHECK(fill(m_memory.get(), bytes + alignedUp(workspace), std::nullopt));
        for (std::size_t k = 0; k < arguments.size(); ++k) {
            m_arguments.push_back(m_memory.get() + offsets[k]);
            HALFTONE_CHECK(fill(m_arguments.back(), arguments[k].bytes, arguments[k].dtype));
        }
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
        double least = std::numeric_limits<double>::infinity();
        for (int round = 0; round < kRounds; ++round) {
            HALFTONE_CHECK(m_timer->mark(0));
            HALFTONE_CHECK(m_gpu.replay(*runs));
            HALFTONE_CHECK(m_timer->mark(1));
            HALFTONE_CHECK(m_gpu.synchronize());
            HALFTONE_TRY(const double all, m_timer->microseconds(0));
            least = std::min(least, all / kRuns);
        }
        return least;
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

std::vector<Argument> argumentsOf(const ProductDesc &desc)
{
    const auto of = [](const View &view) { return Argument{spanOf(view), view.dtype}; };
    std::vector<Argument> arguments{of(desc.a), of(desc.b)};
    if (desc.hasBias) { // one value a channel, or a column
        const std::int64_t count = desc.isConvolution ? desc.c.dims[1] : desc.c.dims.back();
        arguments.push_back({static_cast<std::size_t>(count) * tensor::sizeOf(desc.c.dtype), desc.c.dtype});
    }
    if (desc.residual)
        arguments.push_back(of(*desc.residual));
    arguments.push_back(of(desc.c));
    return arguments;
}

std::vector<Argument> argumentsOf(const AttentionDesc &desc)
{
    const auto of = [](const View &view) { return Argument{spanOf(view), view.dtype}; };
    std::vector<Argument> arguments{
        of(desc.queries), of(desc.keys), of(desc.values), {sizeof(float), tensor::DType::F32}}; // the scale
    if (desc.mask)
        arguments.push_back(of(*desc.mask));
    arguments.push_back(of(desc.result));
    return arguments;
}

Way quickestWay(Gpu &gpu, Product &product, std::span<const Argument> arguments, const Fill &fill)
{
    Timing timing(gpu, product);
    if (!timing.prepare(arguments, fill).ok())
        return {};
    Way best;
    for (std::size_t way = 0; way < product.wayCount(); ++way) {
        product.useWay(way);
        const auto time = timing.microseconds();
        if (!time.ok() && way == 0) // nothing to compare with
            return {};
        if (time.ok() && (way == 0 || time.value() < kClearly * *best.microseconds))
            best = {way, time.value()};
    }
    return best;
}

namespace {

class JoinedProduct final : public Product
{
public:
    explicit JoinedProduct(std::vector<std::unique_ptr<Product>> products)
        : m_products(std::move(products))
    {
    }

    std::string name() const override { return m_products[m_current]->name(); }
    std::size_t wayCount() const override
    {
        std::size_t count = 0;
        for (const auto &product : m_products)
            count += product->wayCount();
        return count;
    }
    void useWay(std::size_t k) override
    {
        for (m_current = 0; k >= m_products[m_current]->wayCount(); ++m_current)
            k -= m_products[m_current]->wayCount();
        m_products[m_current]->useWay(k);
    }
    std::size_t workspaceBytes() const override { return m_products[m_current]->workspaceBytes(); }
    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        return m_products[m_current]->enqueue(arguments, workspace);
    }

private:
    std::vector<std::unique_ptr<Product>> m_products;
    std::size_t m_current = 0;
};

} // namespace

std::unique_ptr<Product> joined(std::vector<std::unique_ptr<Product>> products)
{
    if (products.size() == 1)
        return std::move(products[0]);
    return std::make_unique<JoinedProduct>(std::move(products));
}

} // namespace halftone::backends::cuda
