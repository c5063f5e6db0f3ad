#include "core/backends/cuda/toolkit/driver_gpu.h"

#include "core/base/memory.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace halftone::backends::cuda {
namespace {

CUdeviceptr deviceAddress(const std::byte *at)
{
    return reinterpret_cast<CUdeviceptr>(at);
}

/// The device's context; keeps it as long as anything on the device lives.
class Context
{
public:
    Context(const DriverCalls &calls, CUdevice device)
        : m_calls(calls)
        , m_device(device)
    {
    }
    Context(const Context &) = delete;
    Context &operator=(const Context &) = delete;
    ~Context()
    {
        if (m_context == nullptr)
            return;
        m_calls.cuCtxSetCurrent(m_context);
        if (m_stream != nullptr)
            m_calls.cuStreamDestroy(m_stream);
        m_calls.cuDevicePrimaryCtxRelease(m_device);
    }

    const DriverCalls &calls() const { return m_calls; }
    CUstream stream() const { return m_stream; }

    /// Makes the device ready for the calling thread.
    Result<void> enter()
    {
        if (m_context == nullptr)
            HALFTONE_CHECK(
                check(m_calls.cuDevicePrimaryCtxRetain(&m_context, m_device), "the device's context"));
        HALFTONE_CHECK(check(m_calls.cuCtxSetCurrent(m_context), "the device's context"));
        if (m_stream == nullptr)
            return check(m_calls.cuStreamCreate(&m_stream, CU_STREAM_NON_BLOCKING), "a stream");
        return {};
    }

    Result<void> check(CUresult code, const std::string &what) const
    {
        if (code == CUDA_SUCCESS)
            return {};
        return driverError(m_calls, code, what);
    }

private:
    DriverCalls m_calls;
    CUdevice m_device;
    CUcontext m_context = nullptr;
    CUstream m_stream = nullptr;
};

class DriverModule final : public Module
{
public:
    DriverModule(std::shared_ptr<Context> context, CUmodule module)
        : m_context(std::move(context))
        , m_module(module)
    {
    }
    DriverModule(const DriverModule &) = delete;
    DriverModule &operator=(const DriverModule &) = delete;
    ~DriverModule() override
    {
        if (m_context->enter().ok())
            m_context->calls().cuModuleUnload(m_module);
    }

    Result<void> find(const std::string &name)
    {
        return m_context->check(
            m_context->calls().cuModuleGetFunction(&m_functions[name], m_module, name.c_str()), name);
    }
    CUfunction function(const std::string &name) const
    {
        const auto found = m_functions.find(name);
        return found == m_functions.end() ? nullptr : found->second;
    }

private:
    std::shared_ptr<Context> m_context;
    CUmodule m_module;
    std::unordered_map<std::string, CUfunction> m_functions;
};

class DriverRecording final : public Recording
{
public:
    DriverRecording(std::shared_ptr<Context> context, CUgraphExec graph, std::optional<std::size_t> kernels)
        : m_context(std::move(context))
        , m_graph(graph)
        , m_kernels(kernels)
    {
    }
    DriverRecording(const DriverRecording &) = delete;
    DriverRecording &operator=(const DriverRecording &) = delete;
    ~DriverRecording() override
    {
        if (m_context->enter().ok())
            m_context->calls().cuGraphExecDestroy(m_graph);
    }
    CUgraphExec graph() const { return m_graph; }
    std::optional<std::size_t> kernelCount() const override { return m_kernels; }

private:
    std::shared_ptr<Context> m_context;
    CUgraphExec m_graph;
    std::optional<std::size_t> m_kernels;
};

class DriverTimer final : public Timer
{
public:
    explicit DriverTimer(std::shared_ptr<Context> context)
        : m_context(std::move(context))
    {
    }
    DriverTimer(const DriverTimer &) = delete;
    DriverTimer &operator=(const DriverTimer &) = delete;
    ~DriverTimer() override
    {
        if (m_context->enter().ok())
            for (CUevent event : m_events)
                m_context->calls().cuEventDestroy(event);
    }

    Result<void> create(std::size_t marks)
    {
        for (std::size_t k = 0; k < marks; ++k) {
            CUevent event = nullptr;
            HALFTONE_CHECK(
                m_context->check(m_context->calls().cuEventCreate(&event, CU_EVENT_DEFAULT), "an event"));
            m_events.push_back(event);
        }
        return {};
    }
    Result<void> mark(std::size_t k) override
    {
        HALFTONE_CHECK(m_context->enter());
        return m_context->check(m_context->calls().cuEventRecord(m_events[k], m_context->stream()),
                                "an event");
    }
    Result<double> microseconds(std::size_t k) override
    {
        float milliseconds = 0;
        HALFTONE_CHECK(
            m_context->check(m_context->calls().cuEventSynchronize(m_events[k + 1]), "a step's end"));
        HALFTONE_CHECK(m_context->check(
            m_context->calls().cuEventElapsedTime(&milliseconds, m_events[k], m_events[k + 1]),
            "a step's time"));
        return 1000.0 * static_cast<double>(milliseconds);
    }

private:
    std::shared_ptr<Context> m_context;
    std::vector<CUevent> m_events;
};

class DriverGpu final : public Gpu
{
public:
    DriverGpu(std::shared_ptr<Context> context, GpuInfo info, std::shared_ptr<const Compiler> compiler,
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
        HALFTONE_CHECK(checkMemory(calls().cuMemAlloc(&address, bytes), bytes, what));
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
        HALFTONE_CHECK(m_context->enter());
        std::string why = "no library for products";
        for (const auto &maker : m_makers) {
            auto product = maker->prepare(desc, m_context->stream());
            if (product.ok() || product.error().code != Errc::Unsupported)
                return product;
            why = product.error().found;
        }
        return unsupported("product", why);
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

    Result<void> checkMemory(CUresult code, std::size_t bytes, const std::string &what) const
    {
        if (code != CUDA_ERROR_OUT_OF_MEMORY)
            return m_context->check(code, what);
        std::size_t left = 0;
        std::size_t total = 0;
        calls().cuMemGetInfo(&left, &total);
        return noMemory("out of memory of the device: " + std::to_string(bytes >> 20U) + " MiB asked for "
                        + what + ", " + std::to_string(left >> 20U) + " MiB of "
                        + std::to_string(total >> 20U) + " left");
    }

    std::shared_ptr<Context> m_context;
    GpuInfo m_info;
    std::shared_ptr<const Compiler> m_compiler;
    std::vector<std::shared_ptr<ProductMaker>> m_makers;
    std::unordered_map<std::string, std::weak_ptr<DriverModule>> m_compiled; ///< by source
};

/// What the driver knows without a context. Needs: a device
Result<GpuInfo> infoOf(const DriverCalls &calls, CUdevice device)
{
    GpuInfo info;
    std::array<char, 128> name{};
    int major = 0;
    int minor = 0;
    int kilohertz = 0;
    int memoryKilohertz = 0;
    const auto get = [&](int &value, CUdevice_attribute attribute) {
        return calls.cuDeviceGetAttribute(&value, attribute, device);
    };
    for (const CUresult code : {calls.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device),
                                get(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                                get(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                                get(info.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                                get(kilohertz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
                                get(memoryKilohertz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
                                calls.cuDeviceTotalMem(&info.memoryBytes, device)})
        if (code != CUDA_SUCCESS)
            return driverError(calls, code, "the device's properties");
    info.name = name.data();
    info.arch = 10 * major + minor;
    info.clockMhz = kilohertz / 1000;
    info.memoryMhz = memoryKilohertz / 1000;
    return info;
}

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
    HALFTONE_TRY(GpuInfo info, infoOf(calls, device));
    if (const auto takes = compiler->check(info.arch); !takes.ok())
        return unsupported("cuda", "no CUDA device: " + info.name + ": " + takes.error().found);
    return std::shared_ptr<Gpu>(std::make_shared<DriverGpu>(
        std::make_shared<Context>(calls, device), std::move(info), std::move(compiler), std::move(makers)));
}

} // namespace halftone::backends::cuda
