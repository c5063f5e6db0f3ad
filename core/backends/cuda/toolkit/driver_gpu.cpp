#include "core/backends/cuda/toolkit/driver_gpu.h"

#include "core/backends/cuda/toolkit/choose_way.h"
#include "core/backends/cuda/toolkit/driver_info.h"
#include "core/backends/cuda/toolkit/driver_objects.h"
#include "core/base/memory.h"
#include "core/tensor/elements.h"

#include <algorithm>
#include <map>
#include <random>

namespace halftone::backends::cuda {
namespace {

/// A product that several plans and steps have: it holds nothing of theirs.
class SharedProduct final : public Product
{
public:
    SharedProduct(std::shared_ptr<Product> product, std::optional<double> microseconds)
        : m_product(std::move(product))
        , m_microseconds(microseconds)
    {
    }
    std::string name() const override { return m_product->name(); }
    std::size_t workspaceBytes() const override { return m_product->workspaceBytes(); }
    std::optional<double> microseconds() const override { return m_microseconds; }
    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        return m_product->enqueue(arguments, workspace);
    }

private:
    std::shared_ptr<Product> m_product;
    std::optional<double> m_microseconds; ///< of the way in use
};

/// 64 KiB of a type: between 1/2 and 1 in size, any code of 8 bits.
std::vector<std::byte> valuesNearOne(tensor::DType type)
{
    constexpr std::size_t kBytes = std::size_t{64} << 10U;
    std::mt19937 random(1);
    std::vector<std::byte> values(kBytes);
    if (!tensor::isFloat(type)) {
        std::ranges::generate(values, [&random] { return static_cast<std::byte>(random()); });
        return values;
    }
    const std::size_t size = tensor::sizeOf(type);
    std::uniform_real_distribution<double> sizes(0.5, 1);
    for (std::size_t at = 0; at < kBytes; at += size) {
        const double value = random() % 2 == 0 ? sizes(random) : -sizes(random);
        tensor::narrow(&value, 1, type, values.data() + at);
    }
    return values;
}

class DriverGpu final : public Gpu
{
public:
    DriverGpu(std::shared_ptr<DriverContext> context, GpuInfo info, std::shared_ptr<const Compiler> compiler,
              std::vector<std::shared_ptr<ProductMaker>> makers)
        : m_context(std::move(context))
        , m_info(std::move(info))
        , m_compiler(std::move(compiler))
        , m_makers(std::move(makers))
    {
    }

    const GpuInfo &info() const override { return m_info; }

    Result<DeviceMemory> allocate(std::size_t bytes, const std::string &what) override
    {
        HALFTONE_CHECK(m_context->enter());
        CUdeviceptr address = 0;
        HALFTONE_CHECK(m_context->checkMemory(calls().cuMemAlloc(&address, bytes), bytes, what));
        return DeviceMemory(reinterpret_cast<std::byte *>(address), [context = m_context](std::byte *at) {
            if (context->enter().ok())
                context->calls().cuMemFree(deviceAddress(at));
        });
    }

    Result<DeviceMemory> allocateHost(std::size_t bytes, const std::string &what) override
    {
        HALFTONE_CHECK(m_context->enter());
        void *address = nullptr;
        if (const CUresult code = calls().cuMemAllocHost(&address, bytes); code == CUDA_ERROR_OUT_OF_MEMORY)
            return outOfMemory(bytes, what);
        else
            HALFTONE_CHECK(m_context->check(code, what));
        return DeviceMemory(static_cast<std::byte *>(address), [context = m_context](std::byte *at) {
            if (context->enter().ok())
                context->calls().cuMemFreeHost(at);
        });
    }

    Result<void> upload(std::byte *to, const std::byte *from, std::size_t bytes) override
    {
        if (bytes == 0)
            return {};
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(
            calls().cuMemcpyHtoDAsync(deviceAddress(to), from, bytes, m_context->stream()),
            "a copy to the device");
    }

    Result<void> download(std::byte *to, const std::byte *from, std::size_t bytes) override
    {
        if (bytes == 0)
            return {};
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(
            calls().cuMemcpyDtoHAsync(to, deviceAddress(from), bytes, m_context->stream()),
            "a copy to the host");
    }

    Result<void> synchronize() override
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(calls().cuStreamSynchronize(m_context->stream()), "a run");
    }

    Result<std::shared_ptr<Module>> compile(std::span<const KernelText> kernels) override
    {
        HALFTONE_CHECK(m_context->enter());
        std::string source(prelude());
        for (const KernelText &kernel : kernels)
            source += kernel.text;
        auto &known = m_compiled[source];
        if (auto module = known.lock())
            return std::shared_ptr<Module>(module);
        HALFTONE_TRY(const std::string image, m_compiler->compile(source, m_info.arch));
        CUmodule loaded = nullptr;
        HALFTONE_CHECK(m_context->check(calls().cuModuleLoadData(&loaded, image.data()), "compiled kernels"));
        auto module = std::make_shared<DriverModule>(m_context, loaded);
        for (const KernelText &kernel : kernels)
            HALFTONE_CHECK(module->find(kernel.name));
        known = module;
        return std::shared_ptr<Module>(module);
    }

    Result<void> launch(Module &module, const LaunchOf &launch) override
    {
        HALFTONE_CHECK(m_context->enter());
        const CUfunction function = dynamic_cast<DriverModule &>(module).function(launch.kernel->name);
        std::vector<CUdeviceptr> values;
        for (const std::byte *address : launch.arguments)
            values.push_back(deviceAddress(address));
        std::vector<void *> arguments;
        for (CUdeviceptr &value : values)
            arguments.push_back(&value);
        return m_context->check(calls().cuLaunchKernel(function, launch.kernel->grid, 1, 1,
                                                       launch.kernel->block, 1, 1, 0, m_context->stream(),
                                                       arguments.data(), nullptr),
                                launch.kernel->label);
    }

    bool hasLibraries() const override { return !m_makers.empty(); }
    Result<std::unique_ptr<Product>> prepare(const ProductDesc &desc) override
    {
        return chosen(desc, [&](ProductMaker &maker) { return maker.prepare(desc, m_context->stream()); });
    }
    Result<std::unique_ptr<Product>> prepareAttention(const AttentionDesc &desc) override
    {
        return chosen(desc,
                      [&](ProductMaker &maker) { return maker.prepareAttention(desc, m_context->stream()); });
    }

    bool runsBeforeRecording() const override { return hasLibraries(); }
    Result<void> beginRecording() override
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(
            calls().cuStreamBeginCapture(m_context->stream(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
            "a recording");
    }

    Result<std::unique_ptr<Recording>> endRecording() override
    {
        CUgraph graph = nullptr;
        HALFTONE_CHECK(
            m_context->check(calls().cuStreamEndCapture(m_context->stream(), &graph), "a recording"));
        const std::optional<std::size_t> kernels = kernelsOf(graph);
        CUgraphExec executable = nullptr;
        const CUresult code = calls().cuGraphInstantiate(&executable, graph, 0);
        calls().cuGraphDestroy(graph);
        HALFTONE_CHECK(m_context->check(code, "a recording"));
        return std::unique_ptr<Recording>(std::make_unique<DriverRecording>(m_context, executable, kernels));
    }

    Result<void> replay(Recording &recording) override
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(
            calls().cuGraphLaunch(dynamic_cast<DriverRecording &>(recording).graph(), m_context->stream()),
            "a run");
    }

    Result<std::unique_ptr<Timer>> makeTimer(std::size_t marks) override
    {
        HALFTONE_CHECK(m_context->enter());
        auto timer = std::make_unique<DriverTimer>(m_context);
        HALFTONE_CHECK(timer->create(marks));
        return std::unique_ptr<Timer>(std::move(timer));
    }

private:
    const DriverCalls &calls() const { return m_context->calls(); }

    /// What stands in some plan already, or a new one in its quickest way, which is remembered: networks repeat their layers, and are
    /// planned again and again.
    template <class Desc, class Make>
    Result<std::unique_ptr<Product>> chosen(const Desc &desc, const Make &make)
    {
        const std::string key = keyOf(desc);
        std::shared_ptr<Product> product = m_products[key].lock();
        if (product == nullptr) {
            HALFTONE_TRY(product, byMakers(make));
            if (!m_ways.contains(key))
                m_ways[key] = quickestWay(
                    *this, *product, argumentsOf(desc),
                    [this](std::byte *to, std::size_t bytes, std::optional<tensor::DType> type) {
                        return type ? draw(to, bytes, *type) : clear(to, bytes);
                    });
            const std::size_t way = m_ways[key].number;
            product->useWay(way < product->wayCount() ? way : 0);
            m_products[key] = product;
        }
        return std::unique_ptr<Product>(
            std::make_unique<SharedProduct>(std::move(product), m_ways[key].microseconds));
    }

    Result<void> clear(std::byte *to, std::size_t bytes)
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(calls().cuMemsetD8Async(deviceAddress(to), 0, bytes, m_context->stream()),
                                "zeros");
    }

    /// A pattern that is drawn once, again and again.
    Result<void> draw(std::byte *to, std::size_t bytes, tensor::DType type)
    {
        std::vector<std::byte> &pattern = m_patterns[type];
        if (pattern.empty())
            pattern = valuesNearOne(type);
        std::size_t done = std::min(bytes, pattern.size());
        HALFTONE_CHECK(upload(to, pattern.data(), done));
        for (; done < bytes; done += std::min(done, bytes - done))
            HALFTONE_CHECK(
                m_context->check(calls().cuMemcpyDtoDAsync(deviceAddress(to + done), deviceAddress(to),
                                                           std::min(done, bytes - done), m_context->stream()),
                                 "values"));
        return {};
    }

    /// By all libraries that take it.
    template <class Make>
    Result<std::unique_ptr<Product>> byMakers(const Make &make)
    {
        HALFTONE_CHECK(m_context->enter());
        std::string why = "no library for products";
        std::vector<std::unique_ptr<Product>> products;
        for (const auto &maker : m_makers) {
            auto product = make(*maker);
            if (product.ok())
                products.push_back(std::move(product).value());
            else if (product.error().code != Errc::Unsupported)
                return product.error();
            else
                why = product.error().found;
        }
        if (products.empty())
            return unsupported("product", why);
        return joined(std::move(products));
    }

    /// Nodes of a recording that are kernels.
    std::optional<std::size_t> kernelsOf(CUgraph graph) const
    {
        std::size_t count = 0;
        if (calls().cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS)
            return std::nullopt;
        std::vector<CUgraphNode> nodes(count);
        if (count > 0 && calls().cuGraphGetNodes(graph, nodes.data(), &count) != CUDA_SUCCESS)
            return std::nullopt;
        return static_cast<std::size_t>(std::ranges::count_if(nodes, [this](CUgraphNode node) {
            CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
            return calls().cuGraphNodeGetType(node, &type) == CUDA_SUCCESS
                && type == CU_GRAPH_NODE_TYPE_KERNEL;
        }));
    }

    std::shared_ptr<DriverContext> m_context;
    GpuInfo m_info;
    std::shared_ptr<const Compiler> m_compiler;
    std::vector<std::shared_ptr<ProductMaker>> m_makers;
    std::unordered_map<std::string, std::weak_ptr<DriverModule>> m_compiled; ///< by source
    std::unordered_map<std::string, std::weak_ptr<Product>> m_products; ///< by description, as m_ways
    std::unordered_map<std::string, Way> m_ways;
    std::map<tensor::DType, std::vector<std::byte>> m_patterns; ///< that memory is filled with, to time over
};

} // namespace

Result<std::shared_ptr<Gpu>> driverGpu(const DriverCalls &calls, std::shared_ptr<const Compiler> compiler,
                                       std::vector<std::shared_ptr<ProductMaker>> makers)
{
    int count = 0;
    CUresult code = calls.cuInit(0);
    code = code == CUDA_SUCCESS ? calls.cuDeviceGetCount(&count) : code;
    if (code == CUDA_ERROR_NO_DEVICE || (code == CUDA_SUCCESS && count == 0))
        return unsupported("cuda", "no CUDA device");
    CUdevice device = 0;
    code = code == CUDA_SUCCESS ? calls.cuDeviceGet(&device, 0) : code;
    if (code != CUDA_SUCCESS)
        return driverError(calls, code, "no CUDA device");
    HALFTONE_TRY(GpuInfo info, driverInfo(calls, device));
    if (const auto takes = compiler->check(info.arch); !takes.ok())
        return unsupported("cuda", "no CUDA device: " + info.name + ": " + takes.error().found);
    return std::shared_ptr<Gpu>(std::make_shared<DriverGpu>(std::make_shared<DriverContext>(calls, device),
                                                            std::move(info), std::move(compiler),
                                                            std::move(makers)));
}

} // namespace halftone::backends::cuda
