#include "core/backends/cuda/arena.h"
#include "core/backends/cuda/plan.h"
#include "core/backends/cuda/toolkit/choose_way.h"
#include "core/backends/cuda/toolkit/driver_gpu.h"
#include "tests/core/backends/cuda/toolkit/recording_driver.h"

#include <QTest>

#include <deque>
#include <set>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;
using test::driver;

/// What is timed on a device, by a driver that only records what it is asked for and tells the times that tests want: algorithms, of
/// which the quickest is taken, and the steps of a plan.
class CudaChoiceTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void theQuickestWayIsTaken_data();
    void theQuickestWayIsTaken();
    void eachWayRunsInMemoryOfItsOwn();
    void aChoiceIsMadeOnce();
    void otherDescriptionsAreOtherKeys();
    void argumentsAreAsLongAsTheirViews();
    void whatCannotBeTimedIsTheFirst_data();
    void whatCannotBeTimedIsTheFirst();
    void aWayThatFailsIsNotTaken();
    void stepsAreTimedWithinOneGraph();
    void stepsAreTimedOneByOneWhereEventsAreNotRecorded_data();
    void stepsAreTimedOneByOneWhereEventsAreNotRecorded();
};

namespace {

std::deque<float> times; ///< milliseconds, for cuEventElapsedTime; 0.5 where there are none
std::size_t largest = 0; ///< that was allocated
std::size_t cleared = 0; ///< bytes

DriverCalls calls()
{
    DriverCalls c = test::recordingDriver();
    c.cuEventElapsedTime = [](float *milliseconds, CUevent, CUevent) {
        *milliseconds = times.empty() ? 0.5F : times.front();
        if (!times.empty())
            times.pop_front();
        return test::said("cuEventElapsedTime");
    };
    c.cuEventRecordWithFlags = [](CUevent, CUstream, unsigned flags) {
        return flags == CU_EVENT_RECORD_EXTERNAL ? test::said("cuEventRecordWithFlags")
                                                 : CUDA_ERROR_INVALID_VALUE;
    };
    c.cuMemAlloc = [](CUdeviceptr *address, std::size_t bytes) {
        const CUresult code = test::said("cuMemAlloc");
        if (code == CUDA_SUCCESS) {
            *address = 0x100000;
            ++driver.memory;
            largest = std::max(largest, bytes);
        }
        return code;
    };
    c.cuMemsetD8Async = [](CUdeviceptr, unsigned char value, std::size_t bytes, CUstream) {
        cleared = value == 0 ? bytes : 0;
        return test::said("cuMemsetD8Async");
    };
    return c;
}

class NoCompiler final : public Compiler
{
public:
    Result<std::string> compile(const std::string &, int) const override { return std::string("code"); }
};

/// A product of three ways, whose runs are counted as "way K".
class ThreeWays final : public Product
{
public:
    std::string name() const override { return "way " + std::to_string(m_way); }
    std::size_t wayCount() const override { return 3; }
    void useWay(std::size_t k) override { m_way = k; }
    std::size_t workspaceBytes() const override { return 1000 * (m_way + 1); }
    Result<void> enqueue(std::span<std::byte *const> arguments, std::byte *workspace) override
    {
        const std::string way = name();
        const CUresult code = test::said(way.c_str());
        return code == CUDA_SUCCESS && arguments.size() == 3 && workspace != nullptr
            ? Result<void>()
            : Result<void>(unsupported("test", "refused"));
    }

private:
    std::size_t m_way = 0;
};

class Maker final : public ProductMaker
{
public:
    Result<std::unique_ptr<Product>> prepare(const ProductDesc &, CUstream) override
    {
        ++driver.calls["prepare"];
        return std::unique_ptr<Product>(std::make_unique<ThreeWays>());
    }
};

std::shared_ptr<Gpu> gpu(const DriverCalls &table = calls())
{
    auto made = driverGpu(table, std::make_shared<NoCompiler>(), {std::make_shared<Maker>()});
    return made.ok() ? std::move(made).value() : nullptr;
}

ProductDesc product(std::int64_t rows = 8)
{
    ProductDesc desc;
    desc.a = viewOf({DType::F16, {rows, 32}});
    desc.b = viewOf({DType::F16, {32, 16}});
    desc.c = viewOf({DType::F16, {rows, 16}});
    return desc;
}

constexpr int kRounds = 3; ///< in which each way is timed

/// What each way takes, the same in each round but for the last, which is the quickest.
void takes(std::initializer_list<float> milliseconds)
{
    times.clear();
    for (const float time : milliseconds)
        times.insert(times.end(), {2 * time, 3 * time, time});
}

std::vector<std::size_t> bytesOf(const ProductDesc &desc)
{
    std::vector<std::size_t> bytes;
    for (const Argument &argument : argumentsOf(desc))
        bytes.push_back(argument.bytes);
    return bytes;
}

std::unique_ptr<kernels::LatencyPlan> reluPlan(const std::shared_ptr<Gpu> &device)
{
    const kernels::Operation relu{
        ops::Activation{ops::UnaryKind::Relu}, "relu", {{DType::F32, {4, 4}}}, {{DType::F32, {4, 4}}}};
    auto made = makePlan(plan::singleNode(relu), device, {}, nullptr);
    return made.ok() ? std::move(made).value() : nullptr;
}

} // namespace

void CudaChoiceTest::init()
{
    driver.forget();
    times.clear();
    largest = cleared = 0;
}

void CudaChoiceTest::theQuickestWayIsTaken_data()
{
    QTest::addColumn<float>("first");
    QTest::addColumn<float>("second");
    QTest::addColumn<float>("third");
    QTest::addColumn<QString>("taken");
    QTest::newRow("the first") << 0.2F << 0.3F << 0.4F << "way 0";
    QTest::newRow("the second") << 0.5F << 0.2F << 0.4F << "way 1";
    QTest::newRow("the third") << 0.5F << 0.4F << 0.2F << "way 2";
    QTest::newRow("alike: the library's word") << 0.500F << 0.495F << 0.492F << "way 0";
    QTest::newRow("one alike behind a quicker one") << 0.5F << 0.300F << 0.298F << "way 1";
}

void CudaChoiceTest::theQuickestWayIsTaken()
{
    QFETCH(float, first);
    QFETCH(float, second);
    QFETCH(float, third);
    QFETCH(QString, taken);
    takes({first, second, third});
    const auto device = gpu();
    const auto made = device->prepare(product());
    QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
    QCOMPARE(QString::fromStdString(made.value()->name()), taken);
    QCOMPARE(driver.calls["cuEventElapsedTime"], 3 * kRounds);
    QVERIFY(times.empty());
}

/// All that it reads is written before, the workspace of the way that wants most included, and all is given back.
void CudaChoiceTest::eachWayRunsInMemoryOfItsOwn()
{
    {
        const auto device = gpu();
        const auto made = device->prepare(product());
        QVERIFY(made.ok());
        const std::size_t wanted
            = alignedUp(8 * 32 * 2) + alignedUp(32 * 16 * 2) + alignedUp(8 * 16 * 2) + alignedUp(3000);
        QCOMPARE(largest, wanted);
        QCOMPARE(cleared, wanted);
        QCOMPARE(driver.memory, 0);
        QCOMPARE(made.value()->workspaceBytes(), 1000U); // of the way that is taken
        for (const char *way : {"way 0", "way 1", "way 2"})
            QVERIFY(driver.calls[way] > 1); // once beforehand, then as often as is timed
        QCOMPARE(driver.calls["cuStreamBeginCapture"], 3);
        QCOMPARE(driver.calls["cuStreamEndCapture"], 3);
    }
    QCOMPARE(driver.objects, 0);
}

/// For all steps and plans that have the same product, and after these are gone.
void CudaChoiceTest::aChoiceIsMadeOnce()
{
    const auto device = gpu();
    takes({0.5F, 0.4F, 0.2F});
    {
        const auto made = device->prepare(product());
        const auto again = device->prepare(product());
        QVERIFY(made.ok() && again.ok());
        QCOMPARE(again.value()->name(), std::string("way 2"));
        QCOMPARE(driver.calls["prepare"], 1);
    }
    const auto later = device->prepare(product());
    QVERIFY(later.ok());
    QCOMPARE(later.value()->name(), std::string("way 2"));
    QCOMPARE(later.value()->workspaceBytes(), 3000U);
    QCOMPARE(driver.calls["prepare"], 2);
    QCOMPARE(driver.calls["cuEventElapsedTime"], 3 * kRounds);
    takes({0.5F, 0.2F, 0.4F});
    const auto other = device->prepare(product(16));
    QVERIFY(other.ok());
    QCOMPARE(other.value()->name(), std::string("way 1"));
    QCOMPARE(driver.calls["cuEventElapsedTime"], 6 * kRounds);
}

/// Whatever a product is made of tells it from others; two scales also where their decimals begin alike.
void CudaChoiceTest::otherDescriptionsAreOtherKeys()
{
    std::vector<ProductDesc> all(14, product());
    all[1].a.dtype = DType::BF16;
    all[2].b.strides = {1, 32};
    all[3].c.offset = 16;
    all[4].isConvolution = true;
    all[5].stride = {2, 2};
    all[6].padBegin = {1, 1};
    all[7].padEnd = {1, 1};
    all[8].groups = 2;
    all[9].hasBias = true;
    all[10].residual = all[10].c;
    all[11].activation = Activation::Relu;
    all[12].activation = Activation::Relu;
    all[12].ceiling = 6;
    all[13].allowsTf32 = true;
    for (const double scale : {0.123456789e-6, 0.123456788e-6}) {
        all.push_back(product());
        all.back().scale = scale;
    }
    std::set<std::string> keys;
    for (const ProductDesc &desc : all)
        keys.insert(keyOf(desc));
    QCOMPARE(keys.size(), all.size());
    QCOMPARE(keyOf(product()), keyOf(product()));
    AttentionDesc attention{
        .queries = product().a, .keys = product().a, .values = product().a, .result = product().a};
    keys.insert(keyOf(attention));
    attention.mask = product().c;
    keys.insert(keyOf(attention));
    QCOMPARE(keys.size(), all.size() + 2);
}

/// Up to the last element: of a part of wider rows, of a vector that repeats, of a bias, which is one value a column or a channel.
void CudaChoiceTest::argumentsAreAsLongAsTheirViews()
{
    ProductDesc desc = product();
    desc.a = {DType::F16, {8, 32}, {96, 1}, 64};
    desc.hasBias = true;
    desc.residual = View{DType::F16, {8, 16}, {0, 1}, 0};
    QCOMPARE(bytesOf(desc),
             (std::vector<std::size_t>{2 * (64 + 7 * 96 + 32), 2 * 32 * 16, 2 * 16, 2 * 16, 2 * 8 * 16}));
    desc = {};
    desc.isConvolution = true;
    desc.a = viewOf({DType::F32, {2, 3, 5, 5}}, Order::ChannelsLast);
    desc.b = viewOf({DType::F32, {7, 3, 1, 1}}, Order::ChannelsLast);
    desc.c = viewOf({DType::F32, {2, 7, 5, 5}}, Order::ChannelsLast);
    desc.hasBias = true;
    QCOMPARE(bytesOf(desc), (std::vector<std::size_t>{4 * 150, 4 * 21, 4 * 7, 4 * 350}));
}

void CudaChoiceTest::whatCannotBeTimedIsTheFirst_data()
{
    QTest::addColumn<QString>("function");
    for (const char *name : {"cuMemAlloc", "cuMemsetD8Async", "cuEventCreate", "cuStreamBeginCapture",
                             "cuStreamEndCapture", "cuGraphInstantiate", "cuGraphLaunch", "cuEventRecord",
                             "cuStreamSynchronize", "cuEventElapsedTime"})
        QTest::newRow(name) << name;
}

void CudaChoiceTest::whatCannotBeTimedIsTheFirst()
{
    QFETCH(QString, function);
    {
        const auto device = gpu();
        driver.failing = function.toStdString();
        driver.code = CUDA_ERROR_OUT_OF_MEMORY;
        takes({0.5F, 0.1F, 0.1F});
        const auto made = device->prepare(product());
        QVERIFY2(made.ok(), made.ok() ? "" : made.error().message().c_str());
        QCOMPARE(made.value()->name(), std::string("way 0"));
        QCOMPARE(driver.memory, 0);
    }
    QCOMPARE(driver.objects, 0);
}

void CudaChoiceTest::aWayThatFailsIsNotTaken()
{
    driver.failing = "way 1";
    driver.code = CUDA_ERROR_INVALID_VALUE;
    takes({0.5F, 0.3F}); // of the first and the third
    const auto device = gpu();
    const auto made = device->prepare(product());
    QVERIFY(made.ok());
    QCOMPARE(made.value()->name(), std::string("way 2"));
    driver.failing = "way 0";
    const auto other = device->prepare(product(16));
    QVERIFY(other.ok());
    QCOMPARE(other.value()->name(), std::string("way 0")); // a run says why
    QCOMPARE(driver.calls["cuStreamBeginCapture"], driver.calls["cuStreamEndCapture"]);
}

/// A copy, ReLU, a copy: four moments, recorded once.
void CudaChoiceTest::stepsAreTimedWithinOneGraph()
{
    {
        const auto plan = reluPlan(gpu());
        QVERIFY(plan);
        driver.calls.clear();
        times = {0.001F, 0.002F, 0.003F};
        const auto timed = plan->timeSteps(2);
        QVERIFY(timed.ok());
        for (std::size_t k = 0; k < 3; ++k)
            QVERIFY(std::abs(timed.value()[0][k] - static_cast<double>(k + 1)) < 1e-4);
        QCOMPARE(driver.calls["cuEventRecordWithFlags"], 4);
        QCOMPARE(driver.calls["cuEventRecord"], 0);
        QCOMPARE(driver.calls["cuStreamBeginCapture"], 1);
        QCOMPARE(driver.calls["cuLaunchKernel"], 1);
        QCOMPARE(driver.calls["cuGraphLaunch"], 2);
    }
    QCOMPARE(driver.memory, 0);
    QCOMPARE(driver.objects, 0);
}

void CudaChoiceTest::stepsAreTimedOneByOneWhereEventsAreNotRecorded_data()
{
    QTest::addColumn<QString>("lack");
    QTest::addColumn<int>("replays");
    QTest::newRow("no such function") << "function" << 0;
    QTest::newRow("it is refused") << "refusal" << 0;
    QTest::newRow("times are not told") << "times" << 1; // once, then never again
}

void CudaChoiceTest::stepsAreTimedOneByOneWhereEventsAreNotRecorded()
{
    QFETCH(QString, lack);
    QFETCH(int, replays);
    DriverCalls table = calls();
    if (lack == "function")
        table.cuEventRecordWithFlags = nullptr;
    if (lack == "refusal")
        table.cuEventRecordWithFlags = [](CUevent, CUstream, unsigned) { return CUDA_ERROR_NOT_SUPPORTED; };
    if (lack == "times")
        table.cuEventElapsedTime = [](float *milliseconds, CUevent, CUevent) {
            *milliseconds = 0.5F;
            return driver.calls["cuEventRecord"] == 0 ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
        };
    const auto plan = reluPlan(gpu(table));
    QVERIFY(plan);
    driver.calls.clear();
    const auto done = plan->timeSteps(2);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    QCOMPARE(done.value(), std::vector(2, std::vector<double>{500, 500, 500}));
    QCOMPARE(driver.calls["cuEventRecord"], 2 * 4);
    QCOMPARE(driver.calls["cuGraphLaunch"], replays);
    QCOMPARE(driver.calls["cuStreamBeginCapture"], driver.calls["cuStreamEndCapture"]);
}

QTEST_GUILESS_MAIN(CudaChoiceTest)
#include "tst_cuda_choice.moc"
