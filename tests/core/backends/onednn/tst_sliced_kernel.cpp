#include "core/backends/backends.h"
#include "core/backends/onednn/emulated_kernel.h"
#include "core/backends/onednn/sliced_kernel.h"
#include "core/kernels/buffer.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <cstring>
#include <numeric>
#include <vector>

using namespace halftone;
using backends::onednn::rowsAtATime;
using backends::onednn::slicedKernel;
using kernels::Operation;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;

namespace {

constexpr std::int64_t kInputs = 2;
constexpr std::int64_t kOutputs = 3;

/// A convolution of single pixels, without a bias: cheap enough to be computed by its definition.
Operation convOf(std::int64_t rows, std::int64_t height, std::int64_t width)
{
    ops::Conv conv{.kernel = {1, 1}};
    conv.outputChannels = kOutputs;
    conv.hasBias = false;
    return {conv,
            "tested",
            {{DType::F32, Shape{rows, kInputs, height, width}}, {DType::F32, Shape{kOutputs, kInputs, 1, 1}}},
            {{DType::F32, Shape{rows, kOutputs, height, width}}}};
}

std::size_t rowsIn(const Operation &operation)
{
    return static_cast<std::size_t>(operation.inputs[0].shape[0]);
}

std::size_t outputRow(const Operation &operation)
{
    return static_cast<std::size_t>(*operation.outputs[0].shape.elementCount()) / rowsIn(operation);
}

/// What a run reads and writes; the rows of one buffer lie in it, so that places in it may be reckoned.
struct Buffers
{
    kernels::Buffer data, weights, output;

    std::vector<const std::byte *> inputs() const { return {data.bytes, weights.bytes}; }
};

Buffers buffersOf(const Operation &operation)
{
    return {kernels::allocate(operation.inputs[0]).value(), kernels::allocate(operation.inputs[1]).value(),
            kernels::allocate(operation.outputs[0]).value()};
}

/// Notes where it writes, and of how many rows.
struct Calls
{
    std::vector<std::size_t> prepared;
    std::vector<std::pair<const std::byte *, std::size_t>> written;
    std::stop_source stop;
    std::size_t stopsAfter = 1000;
};

class NotingKernel final : public kernels::Kernel
{
public:
    NotingKernel(Calls &calls, std::size_t rows)
        : m_calls(calls)
        , m_rows(rows)
    {
    }
    std::string name() const override { return "noting"; }
    Result<void> run(std::span<const std::byte *const>, std::span<std::byte *const> outputs) override
    {
        m_calls.written.emplace_back(outputs[0], m_rows);
        if (m_calls.written.size() == m_calls.stopsAfter)
            m_calls.stop.request_stop();
        return {};
    }

private:
    Calls &m_calls;
    std::size_t m_rows;
};

std::unique_ptr<kernels::Kernel> noting(const Operation &operation, Calls &calls)
{
    auto kernel = slicedKernel(operation, *rowsAtATime(operation),
                               [&calls](const Operation &slice) -> Result<std::unique_ptr<kernels::Kernel>> {
                                   calls.prepared.push_back(rowsIn(slice));
                                   return std::unique_ptr<kernels::Kernel>(
                                       std::make_unique<NotingKernel>(calls, rowsIn(slice)));
                               });
    return std::move(kernel).value();
}

} // namespace

/// Convolutions of large batches, a slice of the batch at a time.
class SlicedKernelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Of what a slice reads and gives: 16 MiB in float32.
    void onlyWhatTakesMuchIsSliced()
    {
        QVERIFY(!rowsAtATime(convOf(200, 64, 64))); // 16,384,000 bytes
        QVERIFY(rowsAtATime(convOf(210, 64, 64)));
        QVERIFY(!rowsAtATime(convOf(1, 2048, 1024))); // one row cannot be halved
        Operation known = convOf(400, 64, 64);
        known.constants = {Tensor::owning(DType::F32, Shape{0}, {})};
        QVERIFY(!rowsAtATime(known)); // packed once, not per slice
        Operation other = convOf(400, 64, 64);
        other.op = ops::ConvTranspose{};
        QVERIFY(!rowsAtATime(other));
        Operation mixed = convOf(400, 64, 64);
        mixed.outputs[0].shape = Shape{200, kOutputs, 64, 128};
        QVERIFY(!rowsAtATime(mixed)); // rows of input and output are not each other's
        // A row larger than a slice should be: one at a time.
        QCOMPARE(*rowsAtATime(convOf(4, 1024, 1024)), std::size_t{1});
    }

    /// 16-bit values that are widened to be computed would be there twice; in float32 nothing is beside them.
    void whatIsWidenedIsSliced()
    {
        const auto sum = [](DType type, Shape other) {
            const Shape shape{400, 64, 64};
            return Operation{ops::Binary{ops::BinaryKind::Add},
                             "tested",
                             {{type, shape}, {type, std::move(other)}},
                             {{type, shape}}};
        };
        QVERIFY(!rowsAtATime(sum(DType::F32, {400, 64, 64})));
        if (!backends::onednn::isEmulated(DType::F16))
            return;
        const auto rows = rowsAtATime(sum(DType::F16, {400, 64, 64}));
        QVERIFY(rows);
        QCOMPARE(*rows, std::size_t{(16 << 20) / (3 * 64 * 64 * 4)}); // two read, one given
        QVERIFY(!rowsAtATime(sum(DType::F16, {1, 64, 64}))); // which every row reads
        Operation reduced = sum(DType::F16, {400, 64, 64});
        reduced.op = ops::Reduce{};
        QVERIFY(!rowsAtATime(reduced));
    }

    void slicedSumsAreTheDefinitions()
    {
        constexpr std::size_t kCount = std::size_t{401} * 64 * 64;
        const Shape shape{401, 64, 64};
        const Operation sum{ops::Binary{ops::BinaryKind::Add},
                            "tested",
                            {{DType::F16, shape}, {DType::F16, shape}},
                            {{DType::F16, shape}}};
        const auto chain = backends::backendChain("cpu", 2);
        QVERIFY(chain.ok());
        auto kernel = chain.value()[0]->prepare(sum);
        QVERIFY2(kernel.ok(), kernel.ok() ? "" : kernel.error().message().c_str());
        const Buffers buffers = buffersOf(sum);
        std::vector<float> first(kCount);
        std::vector<float> second(kCount);
        for (std::size_t k = 0; k < kCount; ++k) {
            first[k] = static_cast<float>(k % 97);
            second[k] = static_cast<float>(k % 89) / 2;
        }
        tensor::narrow(first.data(), kCount, DType::F16, buffers.data.bytes);
        tensor::narrow(second.data(), kCount, DType::F16, buffers.weights.bytes);
        std::byte *const output = buffers.output.bytes;
        QVERIFY(kernel.value()->run(buffers.inputs(), std::span(&output, 1)).ok());
        std::vector<float> found(kCount);
        tensor::widen(DType::F16, output, kCount, found.data());
        std::size_t wrong = 0;
        for (std::size_t k = 0; k < kCount; ++k) // halves up to 192 are numbers of float16
            wrong += found[k] != first[k] + second[k] ? 1 : 0;
        QCOMPARE(wrong, std::size_t{0});
    }

    void everyRowIsComputedOnce_data()
    {
        QTest::addColumn<int>("rows");
        QTest::addColumn<int>("height");
        QTest::addColumn<int>("width");
        QTest::newRow("slices alike") << 408 << 64 << 64;
        QTest::newRow("a rest") << 450 << 64 << 65;
        QTest::newRow("rows that end anywhere") << 700 << 61 << 63;
        QTest::newRow("a row a slice") << 3 << 1024 << 1024;
    }

    void everyRowIsComputedOnce()
    {
        QFETCH(const int, rows);
        QFETCH(const int, height);
        QFETCH(const int, width);
        const Operation operation = convOf(rows, height, width);
        Calls calls;
        const auto kernel = noting(operation, calls);
        QCOMPARE(calls.prepared[0], *rowsAtATime(operation));
        QVERIFY(calls.prepared.size() <= 2); // one for all slices, one for the rest
        const std::size_t row = outputRow(operation) * sizeof(float);
        const Buffers buffers = buffersOf(operation);
        std::byte *const output = buffers.output.bytes;
        QVERIFY(kernel->run(buffers.inputs(), std::span(&output, 1)).ok());
        std::size_t next = 0;
        for (const auto &[place, count] : calls.written) {
            QCOMPARE(static_cast<std::size_t>(place - output), next * row);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(place) % 64,
                     std::uintptr_t{0}); // as kernels are promised
            next += count;
        }
        QCOMPARE(next, static_cast<std::size_t>(rows));
        QVERIFY(calls.written.size() > 1);
    }

    void stoppingLeavesTheOtherSlices()
    {
        Calls calls;
        calls.stopsAfter = 1;
        const Operation operation = convOf(900, 64, 64);
        const auto kernel = noting(operation, calls);
        kernel->setStop(calls.stop.get_token());
        const Buffers buffers = buffersOf(operation);
        std::byte *const output = buffers.output.bytes;
        QVERIFY(kernel->run(buffers.inputs(), std::span(&output, 1)).ok());
        QCOMPARE(calls.written.size(), std::size_t{1});
    }

    void whatCannotBePreparedIsSaid()
    {
        const Operation operation = convOf(450, 64, 65);
        const auto refused
            = slicedKernel(operation, *rowsAtATime(operation),
                           [](const Operation &slice) -> Result<std::unique_ptr<kernels::Kernel>> {
                               return badInput("rows", std::to_string(rowsIn(slice)), "none");
                           });
        QVERIFY(!refused.ok());
        QVERIFY(refused.error().message().find("rows") != std::string::npos);
    }

    /// Sums of products of small integers are exact in float32 in every order.
    void valuesAreTheDefinitions_data()
    {
        QTest::addColumn<int>("rows");
        QTest::newRow("a rest") << 450;
        QTest::newRow("none") << 402;
    }

    void valuesAreTheDefinitions()
    {
        QFETCH(const int, rows);
        const Operation operation = convOf(rows, 64, 65);
        QVERIFY(rowsAtATime(operation));
        const auto chain = backends::backendChain("cpu", 2);
        QVERIFY(chain.ok());
        auto kernel = chain.value()[0]->prepare(operation);
        QVERIFY2(kernel.ok(), kernel.ok() ? "" : kernel.error().message().c_str());
        const auto [data, weights, result] = buffersOf(operation);
        auto *const values = reinterpret_cast<float *>(data.bytes);
        const auto count = static_cast<std::size_t>(*operation.inputs[0].shape.elementCount());
        for (std::size_t k = 0; k < count; ++k)
            values[k] = static_cast<float>(k * 7 % 13) - 6;
        auto *const factors = reinterpret_cast<float *>(weights.bytes);
        std::iota(factors, factors + kInputs * kOutputs, -2.0F);
        const std::vector<const std::byte *> inputs{data.bytes, weights.bytes};
        std::byte *const output = result.bytes;
        QVERIFY(kernel.value()->run(inputs, std::span(&output, 1)).ok());
        const auto *const found = reinterpret_cast<const float *>(result.bytes);
        constexpr std::size_t kPixels = 64 * 65;
        std::size_t wrong = 0;
        for (std::size_t n = 0; n < static_cast<std::size_t>(rows); ++n) {
            for (std::size_t pixel = 0; pixel < kPixels; ++pixel) {
                const float first = values[n * kInputs * kPixels + pixel];
                const float second = values[(n * kInputs + 1) * kPixels + pixel];
                for (std::size_t to = 0; to < kOutputs; ++to)
                    wrong += found[(n * kOutputs + to) * kPixels + pixel]
                            != first * factors[to * kInputs] + second * factors[to * kInputs + 1]
                        ? 1
                        : 0;
            }
        }
        QCOMPARE(wrong, std::size_t{0});
    }
};

QTEST_GUILESS_MAIN(SlicedKernelTest)

#include "tst_sliced_kernel.moc"
