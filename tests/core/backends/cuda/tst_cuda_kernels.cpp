#include "core/backends/cuda/attention_kernel.h"
#include "core/backends/cuda/channel_window.h"
#include "core/backends/cuda/unroll_window.h"
#include "core/ops/window.h"
#include "tests/core/backends/cuda/host_gpu.h"
#include "tests/core/backends/cuda/host_library.h"

#include <QTest>

#include <cmath>
#include <random>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;

/// Kernels of our own with a shape of their own, compiled for this machine (host_gpu.h), against their definitions in double.
class CudaKernelsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void attention_data();
    void attention();
    void rowsThatSeeNothingAreNoNumbers();
    void attentionIsLeftToLibraries();
    void windows_data();
    void windows();
    void windowsInAnotherOrderAreRefused();
    void aWarpForEachLine_data();
    void aWarpForEachLine();
    void channelsArePadded();
    void unrolledWindows_data();
    void unrolledWindows();
};

namespace {

test::HostGpu &gpu()
{
    static test::HostGpu device;
    return device;
}

/// A tensor in device memory, as a view sees it.
struct Filled
{
    View view;
    DeviceMemory memory;

    std::byte *at() const { return memory.get(); }
    double get(const Dims &place) const { return test::HostProduct::get(view, place, at()); }
};

std::size_t bytesOf(const View &view)
{
    std::int64_t last = view.offset + 1;
    for (std::size_t axis = 0; axis < view.dims.size(); ++axis)
        last += (view.dims[axis] - 1) * view.strides[axis];
    return static_cast<std::size_t>(last) * tensor::sizeOf(view.dtype);
}

Filled filled(const View &view, std::mt19937 &random)
{
    const std::size_t size = tensor::sizeOf(view.dtype);
    const std::size_t bytes = bytesOf(view);
    Filled tensor{view, gpu().allocate(bytes, "values").value()};
    std::normal_distribution<double> values;
    for (std::size_t k = 0; k < bytes / size; ++k) {
        const double value = values(random);
        tensor::narrow(&value, 1, view.dtype, tensor.at() + k * size);
    }
    return tensor;
}

Filled empty(const View &view)
{
    return {view, gpu().allocate(bytesOf(view), "result").value()};
}

Result<void> launch(const KernelText &kernel, const std::vector<std::byte *> &arguments)
{
    HALFTONE_TRY(const auto module, gpu().compile(std::span(&kernel, 1)));
    return gpu().launch(*module, {&kernel, arguments});
}

/// The first place at which the two differ by more than `tolerance` of what may be expected to be about 1.
QString differing(const Filled &got, const Filled &want, double tolerance)
{
    Dims at(got.view.dims.size(), 0);
    for (std::int64_t i = 0; i < countOf(got.view.dims); ++i) {
        const double g = got.get(at);
        const double w = want.get(at);
        if (!(std::abs(g - w) <= tolerance * std::max(1.0, std::abs(w))) && !(std::isnan(g) && std::isnan(w)))
            return QStringLiteral("element %1 is %2, expected %3").arg(i).arg(g).arg(w);
        for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == got.view.dims[axis];)
            at[axis] = 0;
    }
    return {};
}

double unitOf(DType type)
{
    return type == DType::F16 ? std::ldexp(1, -10) : type == DType::BF16 ? std::ldexp(1, -7) : 4e-6;
}

/// (N, heads, T, size) in rows (N, T, heads · size) of a larger matrix, `column` elements from its left.
View inRows(DType type, const Dims &dims, std::int64_t width, std::int64_t column)
{
    return {type, dims, {dims[2] * width, dims[3], width, 1}, column};
}

View dense(DType type, const Dims &dims)
{
    return viewOf({type, tensor::Shape(dims)});
}

} // namespace

void CudaKernelsTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
}

void CudaKernelsTest::attention_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("batch");
    QTest::addColumn<int>("heads");
    QTest::addColumn<int>("queries");
    QTest::addColumn<int>("keys");
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("valueSize");
    QTest::addColumn<QString>("mask");
    const int f16 = static_cast<int>(DType::F16);
    const int bf16 = static_cast<int>(DType::BF16);
    QTest::newRow("one tile") << f16 << 1 << 1 << 16 << 64 << 64 << 64 << "";
    QTest::newRow("rows beside the tile") << f16 << 2 << 2 << 21 << 64 << 32 << 32 << "";
    QTest::newRow("keys beside the tile") << f16 << 1 << 2 << 16 << 77 << 64 << 64 << "";
    QTest::newRow("fewer keys than a tile") << bf16 << 1 << 2 << 5 << 3 << 16 << 16 << "";
    QTest::newRow("several tiles") << bf16 << 1 << 2 << 40 << 200 << 64 << 64 << "";
    QTest::newRow("large heads") << f16 << 1 << 1 << 17 << 70 << 128 << 128 << "";
    QTest::newRow("values of another size") << f16 << 1 << 2 << 16 << 48 << 32 << 80 << "";
    QTest::newRow("blocks of several warps") << f16 << 16 << 16 << 33 << 20 << 16 << 16 << "";
    QTest::newRow("a mask of float32") << f16 << 2 << 2 << 20 << 70 << 32 << 32 << "whole";
    QTest::newRow("a mask by key") << bf16 << 2 << 2 << 20 << 70 << 32 << 32 << "keys";
    QTest::newRow("a mask that hides the future") << f16 << 1 << 2 << 70 << 70 << 32 << 32 << "future";
}

namespace {

/// Of the named kind; those that hide hide by -infinity.
Filled maskOf(const QString &kind, const Dims &square, DType type, std::mt19937 &random)
{
    if (kind == "keys") {
        Filled mask = filled(dense(type, {square[0], 1, 1, square[3]}), random);
        const double hidden = -INFINITY;
        tensor::narrow(&hidden, 1, type, mask.at()); // the first key of the first batch
        mask.view = stretched(mask.view, square);
        return mask;
    }
    if (kind == "future") {
        Filled mask = empty(dense(DType::F32, {square[2], square[3]}));
        for (std::int64_t i = 0; i < square[2] * square[3]; ++i)
            reinterpret_cast<float *>(mask.at())[i] = i % square[3] > i / square[3] ? -INFINITY : 0;
        mask.view = stretched(mask.view, square);
        return mask;
    }
    return filled(dense(DType::F32, square), random);
}

} // namespace

void CudaKernelsTest::attention()
{
    QFETCH(int, batch);
    QFETCH(int, heads);
    QFETCH(int, queries);
    QFETCH(int, keys);
    QFETCH(int, size);
    QFETCH(int, valueSize);
    QFETCH(int, type);
    QFETCH(QString, mask);
    const auto half = static_cast<DType>(type);
    std::mt19937 random(3);
    const std::int64_t width
        = std::int64_t{3} * heads * size; // queries and keys lie side by side, as one product gives them
    const Filled q = filled(inRows(half, {batch, heads, queries, size}, width, 0), random);
    const Filled k
        = filled(inRows(half, {batch, heads, keys, size}, width, std::int64_t{heads} * size), random);
    const Filled v = filled(dense(half, {batch, heads, keys, valueSize}), random);
    const View to = inRows(half, {batch, heads, queries, valueSize}, std::int64_t{heads} * valueSize, 0);
    const Filled got = empty(to);
    const Filled want = empty(to);
    AttentionDesc desc{q.view, k.view, v.view, {}, to};
    std::vector<std::byte *> arguments{q.at(), k.at(), v.at()};
    const auto scale = static_cast<float>(1 / std::sqrt(size));
    std::vector<std::byte *> asked{q.at(), k.at(), v.at(),
                                   reinterpret_cast<std::byte *>(const_cast<float *>(&scale))};
    Filled hides;
    if (!mask.isEmpty()) {
        hides = maskOf(mask, {batch, heads, queries, keys}, half, random);
        desc.mask = hides.view;
        arguments.push_back(hides.at());
        asked.push_back(hides.at());
    }
    arguments.push_back(got.at());
    asked.push_back(want.at());
    const auto kernel = attentionKernel(desc, static_cast<double>(scale), 90);
    QVERIFY(kernel);
    const auto done = launch(*kernel, arguments);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    test::HostAttention definition(desc, [](const std::function<void()> &work) {
        work();
        return Result<void>();
    });
    QVERIFY(definition.enqueue(asked, nullptr).ok());
    const QString wrong = differing(got, want, 2 * unitOf(half)); // weights are rounded, and sums of them
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

/// As a softmax over nothing is: 0 / 0.
void CudaKernelsTest::rowsThatSeeNothingAreNoNumbers()
{
    std::mt19937 random(3);
    const Dims dims{1, 1, 16, 16};
    const Filled x = filled(dense(DType::F16, dims), random);
    Filled mask = empty(dense(DType::F32, {16, 16}));
    for (std::int64_t i = 0; i < 256; ++i)
        reinterpret_cast<float *>(mask.at())[i] = i / 16 == 3 ? -INFINITY : 0;
    const Filled got = empty(dense(DType::F16, dims));
    const AttentionDesc desc{x.view, x.view, x.view, stretched(mask.view, dims), got.view};
    QVERIFY(launch(*attentionKernel(desc, 1, 80), {x.at(), x.at(), x.at(), mask.at(), got.at()}).ok());
    QVERIFY(std::isnan(got.get({0, 0, 3, 0})) && std::isnan(got.get({0, 0, 3, 15})));
    QVERIFY(std::isfinite(got.get({0, 0, 2, 0})) && std::isfinite(got.get({0, 0, 4, 0})));
}

void CudaKernelsTest::attentionIsLeftToLibraries()
{
    const auto desc = [](DType type, std::int64_t keys, std::int64_t size) {
        const View q = dense(type, {1, 2, 16, size});
        const View k = dense(type, {1, 2, keys, size});
        return AttentionDesc{q, k, k, {}, q};
    };
    QVERIFY(attentionKernel(desc(DType::F16, 128, 64), 1, 90));
    QVERIFY(!attentionKernel(desc(DType::F32, 128, 64), 1, 90));
    QVERIFY(!attentionKernel(desc(DType::F16, 128, 64), 1, 75)); // lacks the instructions
    QVERIFY(!attentionKernel(desc(DType::F16, 4096, 64), 1, 90)); // long
    QVERIFY(!attentionKernel(desc(DType::F16, 128, 72), 1, 90)); // no whole fragments
    QVERIFY(!attentionKernel(desc(DType::F16, 128, 256), 1, 90)); // more than registers hold
    AttentionDesc crooked = desc(DType::F16, 128, 64);
    crooked.keys.offset = 4; // not on 16 bytes
    QVERIFY(!attentionKernel(crooked, 1, 90));
}

void CudaKernelsTest::windows_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<int>("channels");
    QTest::addColumn<int>("extent");
    QTest::addColumn<int>("kernel");
    QTest::addColumn<int>("stride");
    QTest::addColumn<int>("dilate");
    QTest::addColumn<int>("pad");
    const int f32 = static_cast<int>(DType::F32);
    const int f16 = static_cast<int>(DType::F16);
    const int bf16 = static_cast<int>(DType::BF16);
    QTest::newRow("depthwise 3x3") << f16 << "depthwise" << 24 << 9 << 3 << 1 << 1 << 1;
    QTest::newRow("depthwise 3x3, stride 2") << bf16 << "depthwise" << 16 << 11 << 3 << 2 << 1 << 1;
    QTest::newRow("depthwise 5x5, dilated") << f32 << "depthwise" << 12 << 13 << 5 << 1 << 2 << 4;
    QTest::newRow("depthwise 7x7, no padding") << f16 << "depthwise" << 8 << 12 << 7 << 1 << 1 << 0;
    QTest::newRow("depthwise over many places") << f16 << "depthwise" << 16 << 230 << 3 << 1 << 1 << 1;
    QTest::newRow("depthwise over many places, stride 2")
        << f16 << "depthwise" << 16 << 520 << 3 << 2 << 1 << 1;
    QTest::newRow("few channels at once") << f16 << "depthwise" << 6 << 7 << 3 << 1 << 1 << 1;
    QTest::newRow("maximum 3x3, stride 2") << f16 << "max" << 16 << 12 << 3 << 2 << 1 << 1;
    QTest::newRow("maximum over many places") << f16 << "max" << 16 << 300 << 2 << 1 << 1 << 0;
    QTest::newRow("mean with padding") << f32 << "average" << 8 << 9 << 3 << 2 << 1 << 1;
    QTest::newRow("mean without padding") << bf16 << "inside" << 8 << 9 << 3 << 2 << 1 << 1;
    QTest::newRow("sum") << f32 << "sum" << 4 << 8 << 2 << 2 << 1 << 0;
}

namespace {

/// By the definition, of the places at `c2`, `c3`.
double underWindow(const SpatialText &op, const QString &kind, const Filled &data, const Filled &taps,
                   const Dims &to)
{
    double sum = 0;
    double most = -INFINITY;
    int inside = 0;
    for (std::int64_t y = 0; y < op.window.kernel[0]; ++y) {
        for (std::int64_t x = 0; x < op.window.kernel[1]; ++x) {
            const Dims from{to[0], to[1],
                            to[2] * op.window.stride[0] - op.window.padBegin[0] + y * op.window.dilate[0],
                            to[3] * op.window.stride[1] - op.window.padBegin[1] + x * op.window.dilate[1]};
            if (from[2] < 0 || from[3] < 0 || from[2] >= op.data.dims[2] || from[3] >= op.data.dims[3])
                continue;
            ++inside;
            most = std::max(most, data.get(from));
            sum += data.get(from) * (kind == "depthwise" ? taps.get({y, x, to[1]}) : 1);
        }
    }
    const auto all = static_cast<double>(op.window.kernel[0] * op.window.kernel[1]);
    return kind == "max" ? most : kind == "average" ? sum / all : kind == "inside" ? sum / inside : sum;
}

} // namespace

void CudaKernelsTest::windows()
{
    QFETCH(int, type);
    QFETCH(QString, kind);
    QFETCH(int, channels);
    QFETCH(int, extent);
    QFETCH(int, kernel);
    QFETCH(int, stride);
    QFETCH(int, dilate);
    QFETCH(int, pad);
    const auto of = static_cast<DType>(type);
    std::mt19937 random(9);
    const std::int64_t reach = std::int64_t{kernel - 1} * dilate + 1;
    const std::int64_t result = (extent + 2 * pad - reach) / stride + 1;
    const auto last = [of](const Dims &dims) {
        return viewOf({of, tensor::Shape(dims)}, Order::ChannelsLast);
    };
    const std::int64_t batch = extent > 100 ? 1 : 2;
    const Filled data = filled(last({batch, channels, extent, extent}), random);
    const Filled taps = filled(dense(of, {kernel, kernel, channels}), random);
    const Filled bias = filled(dense(of, {channels}), random);
    SpatialText text{{}, data.view, last({batch, channels, result, result})};
    text.window = ops::makeWindow({kernel, kernel}, {stride, stride}, {dilate, dilate},
                                  ops::Padding{{pad, pad}, {pad, pad}})
                      .value();
    const bool isDepthwise = kind == "depthwise";
    Epilogue epilogue;
    View along{of, text.result.dims, {0, 1, 0, 0}, 0};
    if (isDepthwise)
        epilogue = {{}, "larger(acc + e0, 0.0f)", {along}};
    const ChannelWindow what{isDepthwise         ? ChannelWindow::Kind::Depthwise
                                 : kind == "max" ? ChannelWindow::Kind::Max
                                 : kind == "sum" ? ChannelWindow::Kind::Sum
                                                 : ChannelWindow::Kind::Average,
                             kind == "average", -65504};
    const auto text16 = channelWindow(text, what, epilogue, "window");
    QVERIFY(text16);
    const Filled got = empty(text.result);
    std::vector<std::byte *> arguments{data.at()};
    if (isDepthwise)
        arguments.insert(arguments.end(), {taps.at(), bias.at()});
    arguments.push_back(got.at());
    const auto done = launch(*text16, arguments);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    const Filled want = empty(text.result);
    Dims at{0, 0, 0, 0};
    for (std::int64_t i = 0; i < countOf(got.view.dims); ++i) {
        double value = underWindow(text, kind, data, taps, at);
        if (isDepthwise)
            value = std::max(value + bias.get({at[1]}), 0.0);
        tensor::narrow(&value, 1, of,
                       want.at() + test::HostProduct::place(want.view, at) * tensor::sizeOf(of));
        for (std::size_t axis = 4; axis-- > 0 && ++at[axis] == got.view.dims[axis];)
            at[axis] = 0;
    }
    const QString wrong = differing(got, want, unitOf(of));
    QVERIFY2(wrong.isEmpty(), qPrintable(wrong));
}

void CudaKernelsTest::windowsInAnotherOrderAreRefused()
{
    const auto offered = [](const View &data, const View &result) {
        SpatialText text{ops::makeWindow({3, 3}, {}, {}, ops::Padding{{1, 1}, {1, 1}}).value(), data, result};
        return channelWindow(text, {ChannelWindow::Kind::Max}, {}, "window").has_value();
    };
    const View last = viewOf({DType::F16, {1, 8, 5, 5}}, Order::ChannelsLast);
    QVERIFY(offered(last, last));
    QVERIFY(!offered(viewOf({DType::F16, {1, 8, 5, 5}}), last));
    const View odd = viewOf({DType::F16, {1, 7, 5, 5}}, Order::ChannelsLast);
    QVERIFY(!offered(odd, odd));
    const View part = sliced(viewOf({DType::F16, {1, 16, 5, 5}}, Order::ChannelsLast), 1, 3, 8);
    QVERIFY(!offered(part, last)); // begins between vectors
}

void CudaKernelsTest::aWarpForEachLine_data()
{
    QTest::addColumn<int>("type");
    QTest::addColumn<int>("lines");
    QTest::addColumn<int>("length");
    QTest::newRow("BERT's") << static_cast<int>(DType::F16) << 5 << 768;
    QTest::newRow("shorter than a warp") << static_cast<int>(DType::F32) << 3 << 20;
    QTest::newRow("blocks of several warps") << static_cast<int>(DType::BF16) << 1027 << 64;
}

void CudaKernelsTest::aWarpForEachLine()
{
    QFETCH(int, type);
    QFETCH(int, lines);
    QFETCH(int, length);
    const auto of = static_cast<DType>(type);
    std::mt19937 random(4);
    const Filled x = filled(dense(of, {lines, length}), random);
    const Filled gamma = filled(dense(DType::F32, {length}), random);
    const Filled beta = filled(dense(DType::F32, {length}), random);
    const Dims dims{lines, length};
    const Filled got = empty(dense(DType::F32, dims));
    const Filled also = empty(dense(DType::F16, dims));
    const Lines walk{
        {false, true}, {x.view, stretched(gamma.view, dims), stretched(beta.view, dims)}, got.view};
    const KernelText kernel
        = lineNorm(walk, {true, "1 / sqrt(square + 1e-5f)", true, true, DType::F16}, "norm");
    QVERIFY(kernel.text.find("over_warp") != std::string::npos);
    const auto done = launch(kernel, {x.at(), gamma.at(), beta.at(), got.at(), also.at()});
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    for (std::int64_t line = 0; line < lines; ++line) {
        double mean = 0;
        double square = 0;
        for (std::int64_t k = 0; k < length; ++k)
            mean += x.get({line, k}) / length;
        for (std::int64_t k = 0; k < length; ++k)
            square += std::pow(x.get({line, k}) - mean, 2) / length;
        for (std::int64_t k = 0; k < length; ++k) {
            const double want
                = (x.get({line, k}) - mean) / std::sqrt(square + 1e-5) * gamma.get({k}) + beta.get({k});
            QVERIFY(std::abs(got.get({line, k}) - want) <= 1e-5 * std::max(1.0, std::abs(want)));
            QVERIFY(std::abs(also.get({line, k}) - want) <= 1e-3 * std::max(1.0, std::abs(want)));
        }
    }
}

void CudaKernelsTest::channelsArePadded()
{
    std::mt19937 random(6);
    const Filled x = filled(dense(DType::F32, {2, 3, 5, 4}), random);
    const Filled got = empty(viewOf({DType::BF16, {2, kChannelsTogether, 5, 4}}, Order::ChannelsLast));
    QVERIFY(launch(padChannels(x.view, got.view), {x.at(), got.at()}).ok());
    Dims at{0, 0, 0, 0};
    for (std::int64_t i = 0; i < countOf(got.view.dims); ++i) {
        double want = at[1] < 3 ? x.get(at) : 0;
        QVERIFY(std::abs(got.get(at) - want) <= std::ldexp(std::abs(want), -8));
        for (std::size_t axis = 4; axis-- > 0 && ++at[axis] == got.view.dims[axis];)
            at[axis] = 0;
    }
}

void CudaKernelsTest::unrolledWindows_data()
{
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::addColumn<bool>("isLast");
    QTest::addColumn<int>("channels");
    const int f32 = static_cast<int>(DType::F32);
    const int f16 = static_cast<int>(DType::F16);
    QTest::newRow("pictures to halves") << f32 << f16 << false << 3;
    QTest::newRow("whole vectors") << f32 << f32 << true << 8;
    QTest::newRow("channels that fill no vector") << f16 << f16 << true << 5;
}

/// Each row is what lies under a window, tap by tap, zeros beside the data and behind the last tap.
void CudaKernelsTest::unrolledWindows()
{
    QFETCH(int, from);
    QFETCH(int, to);
    QFETCH(bool, isLast);
    QFETCH(int, channels);
    std::mt19937 random(8);
    const auto type = static_cast<DType>(from);
    const Filled data
        = filled(viewOf({type, {2, channels, 7, 6}}, isLast ? Order::ChannelsLast : Order::Plain), random);
    SpatialText op{ops::makeWindow({3, 2}, {2, 1}, {1, 2}, ops::Padding{{1, 0}, {1, 1}}).value(), data.view,
                   viewOf({type, {2, 4, 4, 5}})};
    const std::int64_t columns = (6 * channels + 7) / 8 * 8;
    const Filled got = empty(dense(static_cast<DType>(to), {2 * 4 * 5, columns}));
    const auto done = launch(unrolledWindow(op, got.view), {data.at(), got.at()});
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    for (std::int64_t row = 0; row < 2 * 4 * 5; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
            const std::int64_t tap = column / channels;
            const Dims at{row / 20, column % channels, row / 5 % 4 * 2 - 1 + tap / 2, row % 5 + tap % 2 * 2};
            const bool isInside = tap < 6 && at[2] >= 0 && at[2] < 7 && at[3] < 6;
            const double want = isInside ? data.get(at) : 0;
            QVERIFY(std::abs(got.get({row, column}) - want) <= std::ldexp(std::abs(want), -11));
        }
    }
}

QTEST_GUILESS_MAIN(CudaKernelsTest)
#include "tst_cuda_kernels.moc"
