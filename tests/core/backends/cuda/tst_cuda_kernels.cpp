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

struct AttentionRow
{
    const char *name;
    DType type;
    std::int64_t batch, heads, queries, keys, size, valueSize;
    const char *mask;
};
constexpr AttentionRow kAttention[] = {
    {"one tile", DType::F16, 1, 1, 16, 64, 64, 64, ""},
    {"rows beside the tile", DType::F16, 2, 2, 21, 64, 32, 32, ""},
    {"keys beside the tile", DType::F16, 1, 2, 16, 77, 64, 64, ""},
    {"fewer keys than a tile", DType::BF16, 1, 2, 5, 3, 16, 16, ""},
    {"several tiles", DType::BF16, 1, 2, 40, 200, 64, 64, ""},
    {"large heads", DType::F16, 1, 1, 17, 70, 128, 128, ""},
    {"values of another size", DType::F16, 1, 2, 16, 48, 32, 80, ""},
    {"blocks of several warps", DType::F16, 16, 16, 33, 20, 16, 16, ""},
    {"a mask of float32", DType::F16, 2, 2, 20, 70, 32, 32, "whole"},
    {"a mask by key", DType::BF16, 2, 2, 20, 70, 32, 32, "keys"},
    {"a mask that hides the future", DType::F16, 1, 2, 70, 70, 32, 32, "future"},
};

/// Queries and keys lie side by side, as one product gives them.
AttentionDesc descOf(const AttentionRow &row)
{
    const std::int64_t width = 3 * row.heads * row.size;
    AttentionDesc desc;
    desc.queries = inRows(row.type, {row.batch, row.heads, row.queries, row.size}, width, 0);
    desc.keys = inRows(row.type, {row.batch, row.heads, row.keys, row.size}, width, row.heads * row.size);
    desc.values = dense(row.type, {row.batch, row.heads, row.keys, row.valueSize});
    desc.result
        = inRows(row.type, {row.batch, row.heads, row.queries, row.valueSize}, row.heads * row.valueSize, 0);
    const Dims square{row.batch, row.heads, row.queries, row.keys};
    const std::string_view mask = row.mask;
    if (mask == "whole")
        desc.mask = dense(DType::F32, square);
    else if (mask == "keys")
        desc.mask = stretched(dense(row.type, {row.batch, 1, 1, row.keys}), square);
    else if (mask == "future")
        desc.mask = stretched(dense(DType::F32, {row.queries, row.keys}), square);
    return desc;
}

KernelText kernelOf(const AttentionRow &row)
{
    return attentionKernel(descOf(row), 1 / std::sqrt(static_cast<double>(row.size)), 90).value();
}

/// What hides hides by -infinity: the first key of the first batch; what is behind a query's own place.
Filled maskOf(const AttentionRow &row, const View &view, std::mt19937 &random)
{
    Filled mask = filled(view, random);
    const double hidden = -INFINITY;
    if (std::string_view(row.mask) == "keys")
        tensor::narrow(&hidden, 1, row.type, mask.at());
    if (std::string_view(row.mask) == "future")
        for (std::int64_t i = 0; i < row.queries * row.keys; ++i)
            reinterpret_cast<float *>(mask.at())[i] = i % row.keys > i / row.keys ? -INFINITY : 0;
    return mask;
}

struct WindowRow
{
    const char *name;
    DType type;
    std::string_view kind;
    std::int64_t channels, extent, kernel, stride, dilate, pad;
    std::int64_t enoughThreads = 65536;
};
constexpr WindowRow kWindows[] = {
    {"depthwise 3x3", DType::F16, "depthwise", 24, 9, 3, 1, 1, 1},
    {"depthwise 3x3, stride 2", DType::BF16, "depthwise", 16, 11, 3, 2, 1, 1},
    {"depthwise 5x5, dilated", DType::F32, "depthwise", 12, 13, 5, 1, 2, 4},
    {"depthwise 7x7, no padding", DType::F16, "depthwise", 8, 12, 7, 1, 1, 0},
    {"depthwise, four results a thread", DType::F16, "depthwise", 16, 14, 3, 1, 1, 1, 1},
    {"depthwise, stride 2, four results a thread", DType::F16, "depthwise", 16, 21, 3, 2, 1, 1, 1},
    {"depthwise, dilated, two results a thread", DType::F16, "depthwise", 8, 17, 5, 1, 2, 4, 64},
    {"few channels at once", DType::F16, "depthwise", 6, 7, 3, 1, 1, 1},
    {"maximum 3x3, stride 2", DType::F16, "max", 16, 12, 3, 2, 1, 1},
    {"maximum, four results a thread", DType::F16, "max", 16, 13, 3, 2, 1, 1, 1},
    {"mean, four results a thread", DType::F32, "inside", 8, 11, 3, 1, 1, 1, 1},
    {"mean with padding", DType::F32, "average", 8, 9, 3, 2, 1, 1},
    {"mean without padding", DType::BF16, "inside", 8, 9, 3, 2, 1, 1},
    {"sum", DType::F32, "sum", 4, 8, 2, 2, 1, 0},
};

View lastOf(DType type, const Dims &dims)
{
    return viewOf({type, tensor::Shape(dims)}, Order::ChannelsLast);
}

SpatialText textOf(const WindowRow &row)
{
    const std::int64_t result
        = (row.extent + 2 * row.pad - (row.kernel - 1) * row.dilate - 1) / row.stride + 1;
    SpatialText text{{},
                     lastOf(row.type, {2, row.channels, row.extent, row.extent}),
                     lastOf(row.type, {2, row.channels, result, result})};
    text.window
        = ops::makeWindow({row.kernel, row.kernel}, {row.stride, row.stride}, {row.dilate, row.dilate},
                          ops::Padding{{row.pad, row.pad}, {row.pad, row.pad}})
              .value();
    return text;
}

/// A depthwise one with a bias and ReLU behind it.
KernelText kernelOf(const WindowRow &row)
{
    const SpatialText text = textOf(row);
    Epilogue epilogue;
    if (row.kind == "depthwise")
        epilogue = {{}, "larger(acc + e0, 0.0f)", {View{row.type, text.result.dims, {0, 1, 0, 0}, 0}}};
    const ChannelWindow what{row.kind == "depthwise" ? ChannelWindow::Kind::Depthwise
                                 : row.kind == "max" ? ChannelWindow::Kind::Max
                                 : row.kind == "sum" ? ChannelWindow::Kind::Sum
                                                     : ChannelWindow::Kind::Average,
                             row.kind == "average", -65504, row.enoughThreads};
    return channelWindow(text, what, epilogue, "window").value();
}

/// By the definition, of the places at `c2`, `c3`.
double underWindow(const SpatialText &op, std::string_view kind, const Filled &data, const Filled &taps,
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

void CudaKernelsTest::initTestCase()
{
#ifdef HALFTONE_SANITIZED
    QSKIP("the threads of a block are contexts (host_gpu.h), which sanitizers do not follow");
#endif
    std::vector<KernelText> all; // compiled in one go with the first that is launched
    for (const AttentionRow &row : kAttention)
        all.push_back(kernelOf(row));
    for (const WindowRow &row : kWindows)
        all.push_back(kernelOf(row));
    QVERIFY(gpu().compile(all).ok());
}

void CudaKernelsTest::attention_data()
{
    QTest::addColumn<int>("row");
    for (int k = 0; k < static_cast<int>(std::size(kAttention)); ++k)
        QTest::newRow(kAttention[k].name) << k;
}

void CudaKernelsTest::attention()
{
    QFETCH(int, row);
    const AttentionRow &given = kAttention[row];
    const AttentionDesc desc = descOf(given);
    std::mt19937 random(3);
    const Filled q = filled(desc.queries, random);
    const Filled k = filled(desc.keys, random);
    const Filled v = filled(desc.values, random);
    const Filled got = empty(desc.result);
    const Filled want = empty(desc.result);
    auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(given.size)));
    std::vector<std::byte *> arguments{q.at(), k.at(), v.at()};
    std::vector<std::byte *> asked{q.at(), k.at(), v.at(), reinterpret_cast<std::byte *>(&scale)};
    Filled mask;
    if (desc.mask) {
        mask = maskOf(given, *desc.mask, random);
        arguments.push_back(mask.at());
        asked.push_back(mask.at());
    }
    arguments.push_back(got.at());
    asked.push_back(want.at());
    const auto done = launch(kernelOf(given), arguments);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    test::HostAttention definition(desc, [](const std::function<void()> &work) {
        work();
        return Result<void>();
    });
    QVERIFY(definition.enqueue(asked, nullptr).ok());
    const QString wrong
        = differing(got, want, 2 * unitOf(given.type)); // weights are rounded, and sums of them
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
    QTest::addColumn<int>("row");
    for (int k = 0; k < static_cast<int>(std::size(kWindows)); ++k)
        QTest::newRow(kWindows[k].name) << k;
}

void CudaKernelsTest::windows()
{
    QFETCH(int, row);
    const WindowRow &given = kWindows[row];
    const SpatialText text = textOf(given);
    std::mt19937 random(9);
    const Filled data = filled(text.data, random);
    const Filled taps = filled(dense(given.type, {given.kernel, given.kernel, given.channels}), random);
    const Filled bias = filled(dense(given.type, {given.channels}), random);
    const bool isDepthwise = given.kind == "depthwise";
    const Filled got = empty(text.result);
    std::vector<std::byte *> arguments{data.at()};
    if (isDepthwise)
        arguments.insert(arguments.end(), {taps.at(), bias.at()});
    arguments.push_back(got.at());
    const auto done = launch(kernelOf(given), arguments);
    QVERIFY2(done.ok(), done.ok() ? "" : done.error().message().c_str());
    const Filled want = empty(text.result);
    Dims at{0, 0, 0, 0};
    for (std::int64_t i = 0; i < countOf(got.view.dims); ++i) {
        double value = underWindow(text, given.kind, data, taps, at);
        if (isDepthwise)
            value = std::max(value + bias.get({at[1]}), 0.0);
        tensor::narrow(&value, 1, given.type,
                       want.at() + test::HostProduct::place(want.view, at) * tensor::sizeOf(given.type));
        for (std::size_t axis = 4; axis-- > 0 && ++at[axis] == got.view.dims[axis];)
            at[axis] = 0;
    }
    const QString wrong = differing(got, want, unitOf(given.type));
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
