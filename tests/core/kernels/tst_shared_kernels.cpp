#include "core/kernels/shared_kernels.h"
#include "core/ops/op_elementwise.h"

#include <QTest>

#include <array>
#include <cstring>
#include <vector>

using namespace halftone;
using kernels::Operation;
using tensor::DType;
using tensor::Tensor;

namespace {

/// Adds a constant of two floats to two others.
class Sum final : public kernels::Kernel
{
public:
    explicit Sum(const Tensor &constant)
        : m_constant(constant.values<float>())
    {
    }
    std::string name() const override { return "sum"; }
    Result<void> run(std::span<const std::byte *const> inputs, std::span<std::byte *const> outputs) override
    {
        std::array<float, 2> values{};
        std::memcpy(values.data(), inputs[0], sizeof values);
        for (std::size_t k = 0; k < values.size(); ++k)
            values[k] += m_constant[k];
        std::memcpy(outputs[0], values.data(), sizeof values);
        return {};
    }

private:
    std::vector<float> m_constant;
};

/// Counts what it is asked for.
class Counting final : public kernels::Backend
{
public:
    std::string_view name() const override { return "counting"; }
    kernels::Support support(DType) const override { return kernels::Support::Emulated; }
    Result<std::unique_ptr<kernels::Kernel>> prepare(const Operation &operation) const override
    {
        ++prepared;
        if (!operation.isConstant(1))
            return unsupported("sum", "values that are not known ahead");
        return std::unique_ptr<kernels::Kernel>(std::make_unique<Sum>(operation.constants[1]));
    }

    mutable int prepared = 0;
};

Tensor floats(const std::vector<float> &values)
{
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return Tensor::owning(DType::F32, {static_cast<std::int64_t>(values.size())}, std::move(bytes));
}

Operation sumWith(const Tensor &constant)
{
    const kernels::TensorDesc desc{DType::F32, {2}};
    return {ops::Binary{ops::BinaryKind::Add}, "Add", {desc, desc}, {desc}, {Tensor(), constant}};
}

std::array<float, 2> run(kernels::Kernel &kernel, const std::array<float, 2> &x)
{
    std::array<float, 2> out{};
    const std::array inputs{reinterpret_cast<const std::byte *>(x.data())};
    const std::array outputs{reinterpret_cast<std::byte *>(out.data())};
    if (!kernel.run(inputs, outputs).ok())
        qFatal("the kernel failed");
    return out;
}

} // namespace

class TestSharedKernels : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Equal operations are prepared once while somebody holds the kernel; others, and those of other constants, by themselves.
    void equalOperationsShareAKernel()
    {
        const auto counting = std::make_shared<Counting>();
        const kernels::BackendChain chain = kernels::withSharedKernels({counting});
        QCOMPARE(chain.size(), 1U);
        QCOMPARE(chain[0]->name(), std::string_view("counting"));
        QVERIFY(chain[0]->support(DType::F32) == counting->support(DType::F32));
        const Tensor one = floats({1, 2});
        const Tensor other = floats({10, 20});
        auto first = chain[0]->prepare(sumWith(one));
        auto again = chain[0]->prepare(sumWith(one));
        QVERIFY(first.ok() && again.ok());
        QCOMPARE(counting->prepared, 1);
        QCOMPARE(run(*first.value(), {3, 4}), (std::array{4.0F, 6.0F}));
        first.value().reset(); // the second one goes on
        QCOMPARE(run(*again.value(), {5, 6}), (std::array{6.0F, 8.0F}));

        auto another = chain[0]->prepare(sumWith(other));
        QCOMPARE(counting->prepared, 2);
        QCOMPARE(run(*another.value(), {5, 6}), (std::array{15.0F, 26.0F}));
        Operation seeded = sumWith(one);
        seeded.seed = 7;
        QVERIFY(chain[0]->prepare(seeded).ok());
        QCOMPARE(counting->prepared, 3);

        again.value().reset();
        QVERIFY(chain[0]->prepare(sumWith(one)).ok()); // nobody held it any more
        QCOMPARE(counting->prepared, 4);
    }

    void whatIsRefusedIsRefusedEachTime()
    {
        const auto counting = std::make_shared<Counting>();
        const kernels::BackendChain chain = kernels::withSharedKernels({counting});
        const Operation odd = sumWith(Tensor());
        for (int k = 1; k <= 2; ++k) {
            const auto made = chain[0]->prepare(odd);
            QVERIFY(!made.ok());
            QVERIFY(made.error().code == Errc::Unsupported);
            QCOMPARE(counting->prepared, k);
        }
    }

    /// Kernels of models that come and go do not pile up.
    void manyAreForgotten()
    {
        const auto counting = std::make_shared<Counting>();
        const kernels::BackendChain chain = kernels::withSharedKernels({counting});
        const Tensor kept = floats({1, 2});
        const auto held = chain[0]->prepare(sumWith(kept));
        for (int k = 0; k < 3000; ++k) {
            Operation seeded = sumWith(kept);
            seeded.seed = static_cast<std::uint64_t>(k) + 1;
            QVERIFY(chain[0]->prepare(seeded).ok());
        }
        QVERIFY(chain[0]->prepare(sumWith(kept)).ok());
        QCOMPARE(counting->prepared, 3001);
    }
};

QTEST_GUILESS_MAIN(TestSharedKernels)
#include "tst_shared_kernels.moc"
