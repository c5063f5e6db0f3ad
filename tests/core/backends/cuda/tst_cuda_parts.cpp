#include "core/backends/cuda/arena.h"
#include "core/backends/cuda/element_kernel.h"
#include "core/backends/cuda/product.h"
#include "core/backends/cuda/view.h"

#include <QTest>

#include <random>
#include <set>

using namespace halftone;
using namespace halftone::backends::cuda;
using tensor::DType;

/// The parts of the CUDA backend that decide, without a device: views, places in the arena, launches, fusions.
class CudaPartsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatLivesAtOneTimeDoesNotOverlap();
    void theArenaIsNoLargerThanItMustBe();
    void aWalkVisitsEveryElementOnce();
    void reshapedViewsSeeTheSameElements();
    void whatStridesCannotSayIsRefused();
    void dataThatRunsIsLoadedSixteenBytesAtATime();
    void libraryFusions();
    void workOfAProduct();
};

namespace {

/// The addresses that a view visits in row-major order.
std::vector<std::int64_t> visited(const View &view)
{
    std::vector<std::int64_t> addresses;
    Dims at(view.dims.size(), 0);
    for (std::int64_t i = 0; i < countOf(view.dims); ++i) {
        std::int64_t address = view.offset;
        for (std::size_t axis = 0; axis < at.size(); ++axis)
            address += at[axis] * view.strides[axis];
        addresses.push_back(address);
        for (std::size_t axis = at.size(); axis-- > 0 && ++at[axis] == view.dims[axis];)
            at[axis] = 0;
    }
    return addresses;
}

View viewOfWalk(const Walk &walk, std::size_t k)
{
    return {DType::F32, walk.dims, walk.strides[k], walk.offsets[k]};
}

View some(std::mt19937 &random)
{
    View view = viewOf({DType::F32, {2, 3, 1 + static_cast<std::int64_t>(random() % 4), 5}},
                       random() % 2 ? Order::Plain : Order::ChannelsLast);
    if (random() % 3 == 0)
        view = sliced(view, random() % 4, 0, 1);
    if (random() % 3 == 0)
        view = permuted(view, std::vector<std::size_t>{2, 0, 3, 1});
    return view;
}

} // namespace

void CudaPartsTest::whatLivesAtOneTimeDoesNotOverlap()
{
    std::mt19937 random(5);
    for (int round = 0; round < 300; ++round) {
        std::vector<Lifetime> lives(1 + random() % 40);
        for (Lifetime &life : lives) {
            life.bytes = random() % 5000;
            life.firstStep = random() % 20;
            life.lastStep = life.firstStep + random() % 6;
        }
        const Arena arena = arrange(lives);
        for (std::size_t a = 0; a < lives.size(); ++a) {
            QCOMPARE(arena.offsets[a] % kDeviceAlignment, 0U);
            QVERIFY(arena.offsets[a] + lives[a].bytes <= arena.bytes);
            for (std::size_t b = 0; b < a; ++b) {
                const bool meet
                    = lives[a].firstStep <= lives[b].lastStep && lives[b].firstStep <= lives[a].lastStep;
                const bool overlap = arena.offsets[a] < arena.offsets[b] + lives[b].bytes
                    && arena.offsets[b] < arena.offsets[a] + lives[a].bytes;
                QVERIFY(!meet || !overlap);
            }
        }
    }
}

void CudaPartsTest::theArenaIsNoLargerThanItMustBe()
{
    std::vector<Lifetime> chain; // each is read by the next step alone: two are alive at a time
    for (std::size_t k = 0; k < 50; ++k)
        chain.push_back({1024, k, k + 1});
    QCOMPARE(arrange(chain).bytes, 2048U);
}

void CudaPartsTest::aWalkVisitsEveryElementOnce()
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const View first = some(random);
        View second = viewOf({DType::F32, tensor::Shape(first.dims)});
        if (random() % 2)
            second = stretched(viewOf({DType::F32, {first.dims.back()}}), first.dims);
        const Walk walk = walkOver(std::vector<View>{first, second});
        const auto pairsOf = [](const View &a, const View &b) {
            std::multiset<std::pair<std::int64_t, std::int64_t>> pairs;
            const auto of = visited(a);
            const auto with = visited(b);
            for (std::size_t k = 0; k < of.size(); ++k)
                pairs.emplace(of[k], with[k]);
            return pairs;
        };
        QVERIFY(pairsOf(first, second) == pairsOf(viewOfWalk(walk, 0), viewOfWalk(walk, 1)));
    }
}

void CudaPartsTest::reshapedViewsSeeTheSameElements()
{
    std::mt19937 random(9);
    int seen = 0;
    for (int round = 0; round < 500; ++round) {
        const View view = some(random);
        const std::int64_t count = countOf(view.dims);
        const Dims shapes[] = {{count},
                               {1, count, 1},
                               {view.dims[0], count / view.dims[0]},
                               {view.dims[0] * view.dims[1], view.dims[2] * view.dims[3]}};
        for (const Dims &dims : shapes) {
            const auto again = reshaped(view, dims);
            if (!again)
                continue;
            ++seen;
            QVERIFY(visited(*again) == visited(view));
        }
    }
    QVERIFY(seen > 200);
}

void CudaPartsTest::whatStridesCannotSayIsRefused()
{
    const View last = viewOf({DType::F32, {2, 3, 4, 4}}, Order::ChannelsLast);
    QVERIFY(!reshaped(last, Dims{2, 48}));
    QVERIFY(reshaped(last, Dims{2, 3, 16}));
    QVERIFY(!reshaped(last, Dims{2, 3, 8})); // fewer elements
}

void CudaPartsTest::dataThatRunsIsLoadedSixteenBytesAtATime()
{
    const auto launchOf = [](DType type, tensor::Shape shape) {
        const View view = viewOf({type, std::move(shape)});
        return elementwise(std::vector<View>{view}, view, {}, "x0", "copy");
    };
    QVERIFY(launchOf(DType::F32, {1024, 16}).text.find("vec<float, 4>") != std::string::npos);
    QVERIFY(launchOf(DType::F16, {1024, 16}).text.find("vec<half_t, 8>") != std::string::npos);
    QVERIFY(launchOf(DType::F32, {7, 3}).text.find("vec<") == std::string::npos);
    const KernelText few = launchOf(DType::F32, {1024, 16}); // 4096 threads of four elements
    QCOMPARE(few.grid * few.block, 4096U);
    QCOMPARE(few.block, 64U); // so few, for all multiprocessors
    QCOMPARE(launchOf(DType::F32, {1024, 1024}).block, 256U);
    QCOMPARE(launchOf(DType::F32, {1024, 16}).name, launchOf(DType::F32, {16, 1024}).name);
}

void CudaPartsTest::libraryFusions()
{
    plan::PlanGraph graph;
    const auto value = [&graph](tensor::Shape shape) {
        return graph.addValue({DType::F16, std::move(shape)}, "v");
    };
    const plan::ValueId result = value({1, 8, 4, 4});
    const plan::ValueId same = value({1, 8, 4, 4});
    const plan::ValueId vector = value({8, 1, 1});
    const plan::PostOp relu{ops::Activation{ops::UnaryKind::Relu}, plan::kNoValue};
    const plan::PostOp add{ops::Binary{ops::BinaryKind::Add, false}, same};
    const auto of = [&](std::vector<plan::PostOp> posts) {
        return fusionOf(graph, plan::PlanNode{ops::Conv{}, "conv", {}, {}, {result}, std::move(posts)},
                        false);
    };
    QVERIFY(of({}).has_value());
    QVERIFY(of({add, relu})->residual == same && of({add, relu})->activation == Activation::Relu);
    QVERIFY(!of({relu, add})); // a library adds before it cuts
    QVERIFY(!of({add, add}));
    QVERIFY(!of({{ops::Binary{ops::BinaryKind::Add, true}, vector}}));
    QVERIFY(!of({{ops::Binary{ops::BinaryKind::Mul, false}, same}}));
    QVERIFY(of({{ops::Unary{ops::UnaryKind::GeluTanh}, plan::kNoValue}})->activation == Activation::GeluTanh);
}

void CudaPartsTest::workOfAProduct()
{
    // The first convolution of ResNet-50: 7 × 7 × 3 taps for 64 channels of 112 × 112 places.
    ProductDesc desc;
    desc.isConvolution = true;
    desc.a = viewOf({DType::F16, {1, 3, 224, 224}});
    desc.b = viewOf({DType::F16, {64, 3, 7, 7}});
    desc.c = viewOf({DType::F16, {1, 64, 112, 112}});
    QCOMPARE(workOf(desc).flops, 2.0 * 147 * 64 * 112 * 112);
    QCOMPARE(workOf(desc).bytes, 2.0 * (3 * 224 * 224 + 64 * 147 + 64 * 112 * 112));
}

QTEST_GUILESS_MAIN(CudaPartsTest)
#include "tst_cuda_parts.moc"
