#include "core/backends/cuda/attention_kernel.h"
#include "core/backends/cuda/backend.h"
#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/element_text.h"
#include "core/backends/cuda/plan.h"
#include "core/backends/cuda/toolkit/blas.h"
#include "core/backends/cuda/toolkit/compiler.h"
#include "core/backends/cuda/toolkit/driver_gpu.h"
#include "core/backends/cuda/toolkit/gpu_entries.h"
#include "core/backends/cuda/unroll_window.h"
#include "tests/core/backends/cuda/toolkit/recording_driver.h"

#include <QTest>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <thread>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;
using test::driver;
using test::recordingDriver;

/// What stands between the CUDA backend and NVIDIA's libraries: a driver that only records what it is asked for, with failures on
/// demand; NVRTC itself, which needs no GPU; what is told to cuBLASLt.
class CudaToolkitTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void noDeviceIsToldAsSuch();
    void theDeviceIsDescribed();
    void theMemorysSpeedIsThatOfTheDatasheet_data();
    void theMemorysSpeedIsThatOfTheDatasheet();
    void theTableTellsTypesAndMissingLibraries();
    void whatIsTakenIsGivenBack();
    void aLackOfMemorySaysWhatWasAskedFor();
    void aLostDeviceIsAnError_data();
    void aLostDeviceIsAnError();
    void aBusyDeviceIsToldAsSuch();
    void aLackOfMemoryIsOneEverywhere();
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
    QCOMPARE(
        gpu().value()->info().toString(),
        std::string("Recorder (sm_86), 84 multiprocessors at 1695 MHz, memory 24 GiB at 7251 MHz, 696 GB/s"));
    QVERIFY(driver.calls.empty()); // nothing was done on it
    driver.memoryBits = 0;
    QVERIFY(gpu().value()->info().toString().ends_with("at 7251 MHz"));
}

/// What clock and bus give is what the datasheets say: H100 SXM, H200, A100 of 40 GB, L40, A10.
void CudaToolkitTest::theMemorysSpeedIsThatOfTheDatasheet_data()
{
    QTest::addColumn<int>("kilohertz");
    QTest::addColumn<int>("bits");
    QTest::addColumn<double>("datasheet");
    QTest::newRow("H100 SXM") << 2619000 << 5120 << 3350.0;
    QTest::newRow("H200") << 3201000 << 6144 << 4800.0;
    QTest::newRow("A100 40 GB") << 1215000 << 5120 << 1555.0;
    QTest::newRow("L40") << 9001000 << 384 << 864.0;
    QTest::newRow("A10") << 6251000 << 384 << 600.0;
}

void CudaToolkitTest::theMemorysSpeedIsThatOfTheDatasheet()
{
    QFETCH(int, kilohertz);
    QFETCH(int, bits);
    QFETCH(double, datasheet);
    driver.memoryKilohertz = kilohertz;
    driver.memoryBits = bits;
    const auto bandwidth = gpu().value()->info().bandwidth();
    QVERIFY(bandwidth.has_value());
    QVERIFY2(std::abs(*bandwidth - datasheet) < 0.03 * datasheet, qPrintable(QString::number(*bandwidth)));
}

void CudaToolkitTest::theTableTellsTypesAndMissingLibraries()
{
    const auto whole = gpuEntries("cuda", gpu().value(), {});
    QCOMPARE(whole.size(), std::size_t{2});
    QCOMPARE(whole[1].name, std::string("cuda-tf32"));
    QCOMPARE(whole[0].architecture, std::string("sm_86"));
    QCOMPARE(std::lround(whole[0].bandwidth.value_or(0)), 696L);
    QVERIFY(whole[0].why.ends_with("other operators run on the CPU"));
    const auto backend = whole[0].make({1, false, {}});
    for (const DType type : {DType::F32, DType::F16, DType::BF16, DType::I8, DType::U8, DType::F64})
        QVERIFY2(backend->support(type) == kernels::Support::Native,
                 std::string(tensor::nameOf(type)).c_str());
    QVERIFY(backend->support(DType::I64) == kernels::Support::No);

    const auto bare
        = gpuEntries("cuda", gpu().value(), {"cuBLASLt (libcublasLt.so.13: none)", "cuDNN (no file)"});
    QVERIFY2(bare[0].why.ends_with("; without cuBLASLt (libcublasLt.so.13: none), cuDNN (no file)"),
             bare[0].why.c_str());
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
             std::string("out of memory of the device: 512 B requested for the values of a plan, 100.0 MiB "
                         "of 24.0 GiB free"));
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
    QVERIFY(done.error().found.ends_with(
        "CUDA_ERROR_OF_A_TEST (as asked for); the device was lost: restart the program"));
    QCOMPARE(driver.memory, 0);
    QCOMPARE(driver.objects, 0);
}

void CudaToolkitTest::aBusyDeviceIsToldAsSuch()
{
    driver.failing = "cuDevicePrimaryCtxRetain";
    driver.code = CUDA_ERROR_DEVICE_UNAVAILABLE;
    const auto done = runOnce();
    QVERIFY(!done.ok());
    QVERIFY2(done.error().found.starts_with("the device's context: CUDA_ERROR_OF_A_TEST (as asked for); the "
                                            "device is busy: another program uses it exclusively"),
             done.error().found.c_str());
}

/// Not only where memory is asked for by name: kernels, recordings and events take some, too.
void CudaToolkitTest::aLackOfMemoryIsOneEverywhere()
{
    for (const char *function :
         {"cuModuleLoadData", "cuGraphInstantiate", "cuEventCreate", "cuLaunchKernel"}) {
        driver.forget();
        driver.failing = function;
        driver.code = CUDA_ERROR_OUT_OF_MEMORY;
        const auto done = runOnce();
        QVERIFY(!done.ok());
        QCOMPARE(done.error().code, Errc::NoMemory);
        QVERIFY2(done.error().found.starts_with("out of memory of the device: requested by ")
                     && done.error().found.ends_with(", 100.0 MiB of 24.0 GiB free"),
                 done.error().found.c_str());
    }
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
        SoftmaxForm masked;
        masked.hasMask = true;
        add(softmax({lines.along, {last, stretched(viewOf({type, {1, 6}}), last.dims)}, last}, masked));
        LineNorm rounded{true, "1 / sqrt(square)", true, true};
        rounded.also = DType::F16;
        add(lineNorm({lines.along, {last, last, last}, last}, rounded, "norm"));
        add(lineNorm({lines.along, {last, last, last}, last}, {true, "1 / sqrt(square)", true, true},
                     "norm"));
        const View sums = viewOf({type, {2, 1, 6, 6}});
        for (const char *join : {"join_sum", "join_max", "join_min", "join_product"})
            add(reduction({lines.along, {last}, sums}, "x", join, "0", "all", "reduction"));
        add(matrixProduct(viewOf({type, {5, 7}}), viewOf({type, {7, 9}}), viewOf({type, {5, 9}}), {}));
        const View rows = viewOf({type, {40, 256}});
        const View vector = stretched(viewOf({DType::F32, {256}}), rows.dims);
        add(lineNorm({{false, true}, {rows, vector, vector}, rows}, rounded, "norm"));
        const SpatialText window{ops::makeWindow({3, 3}, {2, 2}, {}, ops::Padding{{1, 1}, {1, 1}}).value(),
                                 last, viewOf({type, {2, 8, 3, 3}}, Order::ChannelsLast)};
        using Kind = ChannelWindow::Kind;
        for (const Kind kind : {Kind::Depthwise, Kind::Max, Kind::Average, Kind::Sum})
            add(*channelWindow(window, {kind, true, 0}, {}, "window"));
        const View padded = viewOf({type, {2, kChannelsTogether, 6, 6}}, Order::ChannelsLast);
        add(padChannels(viewOf({DType::F32, {2, 3, 6, 6}}), padded));
        add(unrolledWindow(window, viewOf({type, {2 * 3 * 3, 9 * 8}})));
        add(unrolledWindow({window.window, viewOf({DType::F32, {2, 3, 6, 6}}), window.result},
                           viewOf({type, {2 * 3 * 3, 32}})));
        const View heads = viewOf({type, {2, 12, 128, 64}});
        if (auto kernel = attentionKernel({heads, heads, heads, {}, heads}, 0.125, arch))
            add(*kernel);
        const View mask = stretched(viewOf({DType::F32, {128, 128}}), Dims{2, 12, 128, 128});
        if (auto kernel = attentionKernel({heads, heads, heads, mask, heads}, 0.125, arch))
            add(*kernel);
    }
    for (const DType type : {DType::I32, DType::I64, DType::F32})
        add(indexCheck(viewOf({type, {3, 5}}), 7, 1));
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
#ifdef HALFTONE_SANITIZED
    if (arch != 75 && arch != 90)
        QSKIP("written, not compiled: NVRTC takes the time, and is not under sanitizers itself");
#endif
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
