#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/element_text.h"
#include "core/backends/cuda/plan.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/compiler.h"
#include "core/backends/cuda/toolkit/driver_gpu.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;

/// What stands between the CUDA backend and NVIDIA's libraries: a driver that only records what it is asked for, with failures on
/// demand; NVRTC itself, which needs no GPU; what is told to cuBLASLt.
class CudaToolkitTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void noDeviceIsToldAsSuch();
    void theDeviceIsDescribed();
    void whatIsTakenIsGivenBack();
    void aLackOfMemorySaysWhatWasAskedFor();
    void aLostDeviceIsAnError_data();
    void aLostDeviceIsAnError();
    void aRecordingThatFailsIsEnded();
    void plansOfTwoThreadsTakeTurns();
    void launchesAreCounted();
    void chipsThatNvrtcDoesNotKnow();
    void kernelsCompileForEveryChip_data();
    void kernelsCompileForEveryChip();
    void productsAsCublasSeesThem();
    void productsOfCodes();
};

namespace {

/// The recording driver; driver functions have no place for a pointer of ours.
struct Driver
{
    int devices = 1;
    CUresult initialised = CUDA_SUCCESS;
    std::string failing; ///< a function that fails, with `code`
    CUresult code = CUDA_SUCCESS;
    std::map<std::string, int> calls;
    long long memory = 0; ///< pieces that are held
    long long objects = 0; ///< streams, events, modules, graphs
    std::atomic<std::thread::id> recorder; ///< who records
    std::atomic<bool> hasMixed = false;
    std::mutex mutex;

    void forget()
    {
        devices = 1;
        initialised = code = CUDA_SUCCESS;
        failing.clear();
        calls.clear();
        memory = objects = 0;
        recorder = std::thread::id();
        hasMixed = false;
    }
} driver;

CUresult said(const char *name)
{
    const std::scoped_lock lock(driver.mutex);
    ++driver.calls[name];
    return driver.failing == name ? driver.code : CUDA_SUCCESS;
}

template <class Handle>
CUresult made(const char *name, Handle *handle)
{
    const CUresult code = said(name);
    if (code == CUDA_SUCCESS) {
        *handle = reinterpret_cast<Handle>(std::uintptr_t{0x1000});
        ++driver.objects;
    }
    return code;
}

CUresult gone(const char *name)
{
    --driver.objects;
    return said(name);
}

DriverCalls recordingDriver()
{
    DriverCalls c;
    c.cuInit = [](unsigned) { return driver.initialised; };
    c.cuDeviceGetCount = [](int *count) { return *count = driver.devices, CUDA_SUCCESS; };
    c.cuDeviceGet = [](CUdevice *device, int) { return *device = 0, CUDA_SUCCESS; };
    c.cuDeviceGetName = [](char *name, int size, CUdevice) {
        return std::strncpy(name, "Recorder", static_cast<std::size_t>(size)), CUDA_SUCCESS;
    };
    c.cuDeviceGetAttribute = [](int *value, CUdevice_attribute attribute, CUdevice) {
        *value = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 8
            : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR    ? 6
            : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT        ? 84
                                                                           : 1695000;
        return CUDA_SUCCESS;
    };
    c.cuDeviceTotalMem
        = [](std::size_t *bytes, CUdevice) { return *bytes = std::size_t{24} << 30U, CUDA_SUCCESS; };
    c.cuDevicePrimaryCtxRetain
        = [](CUcontext *context, CUdevice) { return made("cuDevicePrimaryCtxRetain", context); };
    c.cuDevicePrimaryCtxRelease = [](CUdevice) { return gone("cuDevicePrimaryCtxRelease"); };
    c.cuCtxSetCurrent = [](CUcontext) { return said("cuCtxSetCurrent"); };
    c.cuMemGetInfo = [](std::size_t *left, std::size_t *total) {
        *left = std::size_t{100} << 20U;
        *total = std::size_t{24576} << 20U;
        return CUDA_SUCCESS;
    };
    c.cuMemAlloc = [](CUdeviceptr *address, std::size_t) {
        const CUresult code = said("cuMemAlloc");
        if (code == CUDA_SUCCESS) {
            *address = 0x100000;
            ++driver.memory;
        }
        return code;
    };
    c.cuMemFree = [](CUdeviceptr) { return --driver.memory, said("cuMemFree"); };
    c.cuMemAllocHost = [](void **address, std::size_t bytes) {
        *address = ::operator new(bytes);
        ++driver.memory;
        return said("cuMemAllocHost");
    };
    c.cuMemFreeHost = [](void *address) {
        ::operator delete(address);
        return --driver.memory, said("cuMemFreeHost");
    };
    c.cuMemcpyHtoDAsync
        = [](CUdeviceptr, const void *, std::size_t, CUstream) { return said("cuMemcpyHtoDAsync"); };
    c.cuMemcpyDtoHAsync
        = [](void *, CUdeviceptr, std::size_t, CUstream) { return said("cuMemcpyDtoHAsync"); };
    c.cuStreamCreate = [](CUstream *stream, unsigned) { return made("cuStreamCreate", stream); };
    c.cuStreamDestroy = [](CUstream) { return gone("cuStreamDestroy"); };
    c.cuStreamSynchronize = [](CUstream) { return said("cuStreamSynchronize"); };
    c.cuStreamBeginCapture = [](CUstream, CUstreamCaptureMode) {
        driver.recorder = std::this_thread::get_id();
        return said("cuStreamBeginCapture");
    };
    c.cuStreamEndCapture = [](CUstream, CUgraph *graph) {
        driver.recorder = std::thread::id();
        return made("cuStreamEndCapture", graph);
    };
    c.cuGraphInstantiate
        = [](CUgraphExec *graph, CUgraph, unsigned long long) { return made("cuGraphInstantiate", graph); };
    c.cuGraphLaunch = [](CUgraphExec, CUstream) { return said("cuGraphLaunch"); };
    c.cuGraphExecDestroy = [](CUgraphExec) { return gone("cuGraphExecDestroy"); };
    c.cuGraphGetNodes = [](CUgraph, CUgraphNode *nodes, std::size_t *count) {
        if (nodes != nullptr)
            for (std::size_t k = 0; k < *count; ++k)
                nodes[k] = reinterpret_cast<CUgraphNode>(k + 1);
        return *count = 3, said("cuGraphGetNodes");
    };
    c.cuGraphNodeGetType = [](CUgraphNode node, CUgraphNodeType *type) { // a copy, a kernel, a copy
        *type = reinterpret_cast<std::uintptr_t>(node) == 2 ? CU_GRAPH_NODE_TYPE_KERNEL
                                                            : CU_GRAPH_NODE_TYPE_MEMCPY;
        return CUDA_SUCCESS;
    };
    c.cuGraphDestroy = [](CUgraph) { return gone("cuGraphDestroy"); };
    c.cuEventCreate = [](CUevent *event, unsigned) { return made("cuEventCreate", event); };
    c.cuEventDestroy = [](CUevent) { return gone("cuEventDestroy"); };
    c.cuEventRecord = [](CUevent, CUstream) { return said("cuEventRecord"); };
    c.cuEventSynchronize = [](CUevent) { return said("cuEventSynchronize"); };
    c.cuEventElapsedTime = [](float *milliseconds, CUevent, CUevent) {
        return *milliseconds = 0.5F, said("cuEventElapsedTime");
    };
    c.cuModuleLoadData = [](CUmodule *module, const void *) { return made("cuModuleLoadData", module); };
    c.cuModuleUnload = [](CUmodule) { return gone("cuModuleUnload"); };
    c.cuModuleGetFunction = [](CUfunction *, CUmodule, const char *) { return said("cuModuleGetFunction"); };
    c.cuLaunchKernel = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          CUstream, void **, void **) {
        const std::thread::id recorder = driver.recorder;
        if (recorder != std::thread::id() && recorder != std::this_thread::get_id())
            driver.hasMixed = true; // a launch of another thread gets into the recording
        std::this_thread::sleep_for(std::chrono::microseconds(200));
        return said("cuLaunchKernel");
    };
    c.cuGetErrorName
        = [](CUresult, const char **text) { return *text = "CUDA_ERROR_OF_A_TEST", CUDA_SUCCESS; };
    c.cuGetErrorString = [](CUresult, const char **text) { return *text = "as asked for", CUDA_SUCCESS; };
    return c;
}

class NoCompiler final : public Compiler
{
public:
    Result<std::string> compile(const std::string &, int) const override { return std::string("code"); }
};

Result<std::shared_ptr<Gpu>> gpu()
{
    return driverGpu(recordingDriver(), std::make_shared<NoCompiler>(), {});
}

kernels::Operation relu()
{
    return {ops::Activation{ops::UnaryKind::Relu}, "relu", {{DType::F32, {4, 4}}}, {{DType::F32, {4, 4}}}};
}

/// A kernel made and run once; the device is let go behind it.
Result<void> runOnce()
{
    HALFTONE_TRY(auto device, gpu());
    const auto backend = cudaBackend(device);
    HALFTONE_TRY(const std::unique_ptr<kernels::Kernel> kernel, backend->prepare(relu()));
    std::vector<float> data(16);
    const std::byte *const in = reinterpret_cast<const std::byte *>(data.data());
    std::byte *const out = reinterpret_cast<std::byte *>(data.data());
    return kernel->run(std::span(&in, 1), std::span(&out, 1));
}

} // namespace

void CudaToolkitTest::init()
{
    driver.forget();
}

void CudaToolkitTest::noDeviceIsToldAsSuch()
{
    driver.devices = 0;
    QCOMPARE(gpu().error().found, std::string("no CUDA device"));
    driver.forget();
    driver.initialised = CUDA_ERROR_NO_DEVICE;
    QCOMPARE(gpu().error().found, std::string("no CUDA device"));
    QCOMPARE(gpu().error().code, Errc::Unsupported);
}

void CudaToolkitTest::theDeviceIsDescribed()
{
    QCOMPARE(gpu().value()->info().toString(),
             std::string("Recorder (sm_86), 84 multiprocessors at 1695 MHz, memory 24 GiB at 1695 MHz"));
    QVERIFY(driver.calls.empty()); // nothing was done on it
}

void CudaToolkitTest::whatIsTakenIsGivenBack()
{
    const auto done = runOnce();
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QCOMPARE(driver.memory, 0);
    QCOMPARE(driver.objects, 0);
    QCOMPARE(driver.calls["cuLaunchKernel"], 1);
    QCOMPARE(driver.calls["cuGraphLaunch"], 1);
}

void CudaToolkitTest::aLackOfMemorySaysWhatWasAskedFor()
{
    driver.failing = "cuMemAlloc";
    driver.code = CUDA_ERROR_OUT_OF_MEMORY;
    const auto done = runOnce();
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::NoMemory);
    QCOMPARE(done.error().found,
             std::string(
                 "out of memory of the device: 0 MiB asked for the values of a plan, 100 MiB of 24576 left"));
    QCOMPARE(driver.memory, 0);
    QCOMPARE(driver.objects, 0);
}

void CudaToolkitTest::aLostDeviceIsAnError_data()
{
    QTest::addColumn<QString>("function");
    for (const char *name : {"cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuMemAlloc", "cuModuleLoadData",
                             "cuModuleGetFunction", "cuEventCreate", "cuStreamBeginCapture",
                             "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphLaunch",
                             "cuStreamSynchronize", "cuLaunchKernel", "cuMemcpyHtoDAsync"})
        QTest::newRow(name) << name;
}

void CudaToolkitTest::aLostDeviceIsAnError()
{
    QFETCH(QString, function);
    driver.failing = function.toStdString();
    driver.code = CUDA_ERROR_LAUNCH_FAILED;
    const auto done = runOnce();
    QVERIFY(!done.ok());
    QCOMPARE(done.error().code, Errc::Unsupported);
    QVERIFY(done.error().found.find("CUDA_ERROR_OF_A_TEST (as asked for); the device is lost or busy")
            != std::string::npos);
    QCOMPARE(driver.memory, 0);
    QCOMPARE(driver.objects, 0);
}

void CudaToolkitTest::aRecordingThatFailsIsEnded()
{
    driver.failing = "cuLaunchKernel";
    driver.code = CUDA_ERROR_INVALID_VALUE;
    QVERIFY(!runOnce().ok());
    QCOMPARE(driver.calls["cuStreamEndCapture"], driver.calls["cuStreamBeginCapture"]);
}

/// One stream, and recordings of it: what another thread launches meanwhile must not get in.
void CudaToolkitTest::plansOfTwoThreadsTakeTurns()
{
    const auto device = gpu();
    const auto work = [&device] {
        for (int round = 0; round < 10; ++round) {
            const auto kernel = cudaBackend(device.value())->prepare(relu());
            std::vector<float> data(16);
            const std::byte *const in = reinterpret_cast<const std::byte *>(data.data());
            std::byte *const out = reinterpret_cast<std::byte *>(data.data());
            if (!kernel.ok() || !kernel.value()->run(std::span(&in, 1), std::span(&out, 1)).ok())
                driver.hasMixed = true;
        }
    };
    std::thread other(work);
    work();
    other.join();
    QVERIFY(!driver.hasMixed);
}

void CudaToolkitTest::launchesAreCounted()
{
    const auto device = gpu();
    plan::PlanGraph graph = plan::singleNode(relu());
    const auto made = makePlan(std::move(graph), device.value(), {}, nullptr);
    QVERIFY(made.ok());
    QCOMPARE(made.value()->launches()->planned, 1U);
    QCOMPARE(made.value()->launches()->measured.value_or(0), 1U); // of the recording's three nodes
    const auto &steps = made.value()->steps();
    QCOMPARE(steps[1].bytes, 2.0 * 16 * 4); // what ReLU reads and writes
}

/// Newer ones get PTX of the newest that it knows; older ones are told.
void CudaToolkitTest::chipsThatNvrtcDoesNotKnow()
{
    const auto compiler = loadNvrtc();
    if (!compiler.ok())
        QSKIP(("no NVRTC here: " + compiler.error().found).c_str());
    const auto image = compiler.value()->compile(std::string(prelude()), 999);
    QVERIFY2(image.ok(), image.ok() ? "" : image.error().found.c_str());
    QVERIFY(image.value().find(".target sm_") != std::string::npos);
    const auto old = compiler.value()->check(35);
    QVERIFY(!old.ok());
    QVERIFY(old.error().found.starts_with("sm_35: NVRTC compiles for sm_"));
    QVERIFY(compiler.value()->check(90).ok());
}

void CudaToolkitTest::kernelsCompileForEveryChip_data()
{
    QTest::addColumn<int>("arch");
    for (const int arch : {75, 80, 86, 89, 90, 100})
        QTest::addRow("sm_%d", arch) << arch;
}

/// One of each kind, in each type.
void CudaToolkitTest::kernelsCompileForEveryChip()
{
    QFETCH(int, arch);
    const auto compiler = loadNvrtc();
    if (!compiler.ok())
        QSKIP(("no NVRTC here: " + compiler.error().found).c_str());
    std::map<std::string, std::string> texts;
    const auto add = [&texts](const KernelText &kernel) { texts.emplace(kernel.name, kernel.text); };
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::F64}) {
        const View view = viewOf({type, {2, 8, 6, 6}});
        const View last = viewOf({type, {2, 8, 6, 6}}, Order::ChannelsLast);
        add(elementwise(std::vector<View>{view, last}, last, {}, "tanh(x0) + softplus(x1)", "elements"));
        add(elementwise(std::vector<View>{view}, viewOf({DType::F32, {2, 8, 6, 6}}), {}, "x0", "cast"));
        const Lines lines{{false, true, false, false}, {last}, last};
        add(softmax(lines, {}));
        add(lineNorm({lines.along, {last, last, last}, last}, {true, "1 / sqrt(square)", true, true},
                     "norm"));
        const View sums = viewOf({type, {2, 1, 6, 6}});
        for (const char *join : {"join_sum", "join_max", "join_min", "join_product"})
            add(reduction({lines.along, {last}, sums}, "x", join, "0", "all", "reduction"));
        add(matrixProduct(viewOf({type, {5, 7}}), viewOf({type, {7, 9}}), viewOf({type, {5, 9}}), {}));
    }
    for (const DType type : {DType::I8, DType::U8, DType::I16, DType::I32, DType::I64, DType::Bool})
        add(elementwise(std::vector<View>{viewOf({type, {64, 64}})}, viewOf({DType::F16, {64, 64}}), {}, "x0",
                        "cast"));
    for (const DType type : {DType::F8E4M3FN, DType::F8E5M2})
        for (const DType other : {DType::F32, DType::F16, DType::BF16}) {
            add(elementwise(std::vector<View>{viewOf({type, {64, 64}})}, viewOf({other, {64, 64}}), {}, "x0",
                            "cast"));
            add(elementwise(std::vector<View>{viewOf({other, {64, 64}})}, viewOf({type, {64, 64}}), {}, "x0",
                            "cast"));
        }
    for (const DType type :
         {DType::I8, DType::U8}) { // codes: sums of whole numbers, through a step to codes again
        const Epilogue epilogue{
            "    const float r0 = (float)(acc) * 0.5f;\n", codeText({type, 0.25, 3}, "r0"), {}};
        add(matrixProduct(viewOf({type, {5, 7}}), viewOf({DType::I8, {7, 9}}), viewOf({type, {5, 9}}),
                          epilogue, {"int", 3}));
        add(elementwise(std::vector<View>{viewOf({DType::I32, {64, 64}})}, viewOf({type, {64, 64}}), {},
                        codeText({type, 0.25, 3}, "(float)x0"), "sums to codes"));
    }
    std::string source(prelude());
    for (const auto &[name, text] : texts)
        source += text;
    const auto image = compiler.value()->compile(source, arch);
    QVERIFY2(image.ok(), image.ok() ? "" : image.error().found.substr(0, 4000).c_str());
    QVERIFY(image.value().starts_with("\177ELF"));
}

/// cuBLASLt counts columns first: our second matrix is its first.
void CudaToolkitTest::productsAsCublasSeesThem()
{
    ProductDesc desc;
    desc.a = viewOf({DType::F16, {128, 768}});
    desc.c = viewOf({DType::F16, {128, 3072}});
    desc.b = permuted(viewOf({DType::F16, {3072, 768}}), std::vector<std::size_t>{1, 0}); // a layer's weight
    const auto layer = blasProduct(desc);
    QVERIFY(layer.ok());
    QVERIFY(layer.value().first.isTransposed && !layer.value().second.isTransposed);
    QCOMPARE(layer.value().first.rows, 768);
    QCOMPARE(layer.value().first.columns, 3072);
    QCOMPARE(layer.value().first.leading, 768);
    QCOMPARE(layer.value().result.rows, 3072);
    QCOMPARE(layer.value().result.leading, 3072);
    // Heads of attention: a batch of 12 products, whose second matrix is repeated.
    desc.a = viewOf({DType::F16, {2, 12, 128, 64}});
    desc.b = stretched(viewOf({DType::F16, {64, 128}}), Dims{2, 12, 64, 128});
    desc.c = viewOf({DType::F16, {2, 12, 128, 128}});
    const auto heads = blasProduct(desc);
    QVERIFY(heads.ok());
    QCOMPARE(heads.value().batch, 24);
    QCOMPARE(heads.value().first.batchStride, 0);
    QCOMPARE(heads.value().second.batchStride, 128 * 64);
    desc.activation = Activation::GeluErf; // the library has the other form
    QVERIFY(!blasProduct(desc).ok());
}

/// The depth fastest in both matrices, extents that its tensor cores take, types of the documentation's table.
void CudaToolkitTest::productsOfCodes()
{
    const auto product = [](DType a, DType b, DType c, std::int64_t rows, std::int64_t depth,
                            std::int64_t columns, bool isTransposed = true) {
        ProductDesc desc;
        desc.a = viewOf({a, {rows, depth}});
        desc.b = isTransposed ? permuted(viewOf({b, {columns, depth}}), std::vector<std::size_t>{1, 0})
                              : viewOf({b, {depth, columns}});
        desc.c = viewOf({c, {rows, columns}});
        return desc;
    };
    QVERIFY(blasProduct(product(DType::I8, DType::I8, DType::I32, 5, 64, 12)).ok());
    QVERIFY(!blasProduct(product(DType::I8, DType::I8, DType::I32, 5, 64, 12, false)).ok());
    QVERIFY(!blasProduct(product(DType::I8, DType::I8, DType::I32, 5, 63, 12)).ok());
    QVERIFY(!blasProduct(product(DType::I8, DType::I8, DType::I32, 5, 64, 10)).ok());
    QVERIFY(!blasProduct(product(DType::U8, DType::I8, DType::I32, 5, 64, 12)).ok());
    QVERIFY(!blasProduct(product(DType::I8, DType::I8, DType::F32, 5, 64, 12)).ok());
    const DType e4m3 = DType::F8E4M3FN;
    const DType e5m2 = DType::F8E5M2;
    QVERIFY(blasProduct(product(e4m3, e4m3, DType::F32, 5, 64, 16)).ok());
    QVERIFY(blasProduct(product(e5m2, e4m3, DType::BF16, 5, 64, 16)).ok());
    QVERIFY(!blasProduct(product(e5m2, e5m2, DType::F32, 5, 64, 16)).ok()); // one of them is e4m3
    QVERIFY(!blasProduct(product(e4m3, e4m3, DType::F32, 5, 56, 16)).ok());
    QVERIFY(!blasProduct(product(e4m3, e4m3, DType::F16, 5, 64, 12)).ok());
    ProductDesc desc = product(e4m3, e4m3, DType::F32, 5, 64, 16);
    desc.hasBias = true; // would be of 16 bits
    QVERIFY(!blasProduct(desc).ok());
    desc.c = viewOf({DType::F16, {5, 16}});
    QVERIFY(blasProduct(desc).ok());
    desc = product(DType::F16, DType::F16, DType::F16, 5, 7, 9);
    desc.activation = Activation::Relu;
    desc.ceiling = 6;
    QVERIFY(!blasProduct(desc).ok());
}

QTEST_GUILESS_MAIN(CudaToolkitTest)
#include "tst_cuda_toolkit.moc"
