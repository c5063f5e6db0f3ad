#include "core/backends/backends.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"

#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halftone;
using backends::Arithmetic;

/// What MXNet 1.9.1 delivers where it computes otherwise than its operators say (tests/support/make_delivery_goldens.py).
namespace {

const std::string kData = std::string(HALFTONE_TEST_DATA) + "/delivery/";

graph::Model load(const QString &name)
{
    auto loaded = io::loadModel(kData + name.toStdString() + "-symbol.json", {});
    if (!loaded.ok())
        qFatal("%s", loaded.error().message().c_str());
    return std::move(loaded).value().model;
}

interpret::Feed arraysOf(const QString &name)
{
    auto arrays = io::readNpz(kData + name.toStdString() + ".npz");
    if (!arrays.ok())
        qFatal("%s", arrays.error().message().c_str());
    interpret::Feed feed;
    for (io::NamedTensor &array : arrays.value())
        feed[array.name] = std::move(array.tensor);
    return feed;
}

/// The share of elements that differ by more than a thousandth of the peak.
double differing(const tensor::Tensor &got, const tensor::Tensor &want)
{
    const std::vector<float> a = got.values<float>();
    const std::vector<float> b = want.values<float>();
    float peak = 0;
    for (const float value : b)
        peak = std::max(peak, std::abs(value));
    std::size_t count = a.size() == b.size() ? 0 : a.size();
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
        count += std::abs(a[i] - b[i]) > peak / 1000 ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(b.size());
}

} // namespace

class TestMxnetArithmetic : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void itGivesWhatMxnetDelivers_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"int8-addend", "uint8-addend", "bfloat16"})
            QTest::newRow(name) << name;
    }

    void itGivesWhatMxnetDelivers()
    {
        QFETCH(QString, name);
        const graph::Model model = load(name);
        const interpret::Feed feed = arraysOf(name);
        const tensor::Tensor delivered = arraysOf(name + "-delivered").at("delivered");
        for (const char *backend : {"reference", "cpu"}) {
            for (const Arithmetic arithmetic : {Arithmetic::Runtime, Arithmetic::Defined}) {
                const auto chain = backends::backendChain(backend, 2, arithmetic);
                auto interpreter = interpret::Interpreter::create(model, chain.value());
                QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
                const auto heads = interpreter.value().run(feed);
                QVERIFY2(heads.ok(), heads.ok() ? "" : heads.error().message().c_str());
                const double share = differing(heads.value()[0], delivered);
                const std::string told = std::string(backend) + ' ' + std::to_string(share);
                // Single codes, and a tanh at the edge of a cut, may differ.
                QVERIFY2(arithmetic == Arithmetic::Runtime ? share <= 0.02 : share > 0.2, told.c_str());
            }
        }
    }

    void namesAreThoseOfTheOption()
    {
        QVERIFY(backends::nameOf(Arithmetic::Defined) == "defined");
        QVERIFY(backends::nameOf(Arithmetic::Runtime) == "mxnet");
        QVERIFY(backends::meaningOf(Arithmetic::Runtime).find("MXNet 1.9.1") != std::string::npos);
    }
};

QTEST_APPLESS_MAIN(TestMxnetArithmetic)
#include "tst_mxnet_arithmetic.moc"
