#include "core/backends/reference/reference_backend.h"
#include "core/interpret/interpreter.h"
#include "core/io/arrays/npz.h"
#include "core/io/model_io.h"
#include "core/tensor/elements.h"

#include <QTest>

#include <cmath>

using namespace halftone;
using tensor::Tensor;

namespace {

std::vector<double> valuesOf(const Tensor &tensor)
{
    std::vector<double> values(tensor.elementCount());
    tensor::widen(tensor.dtype(), tensor.bytes().data(), values.size(), values.data());
    return values;
}

} // namespace

/// Control flow against recordings of the real MXNet (tests/support/make_body_goldens.py).
class TestBodyValues : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void mxnetGivesTheSame_data()
    {
        QTest::addColumn<QString>("name");
        for (const char *name : {"foreach", "foreach_nested", "while", "while_cast", "cond", "cond_cast"})
            QTest::newRow(name) << QString(name);
    }

    void mxnetGivesTheSame()
    {
        QFETCH(QString, name);
        const std::string path = HALFTONE_TEST_DATA "/bodies/" + name.toStdString();
        const auto loaded = io::loadModel(path + "-symbol.json", {{}, true});
        QVERIFY(loaded.ok());
        interpret::Feed feed;
        const auto inputs = io::readNpz(path + "-inputs.npz").value();
        for (const io::NamedTensor &array : inputs)
            feed.emplace(array.name, array.tensor);
        auto interpreter = interpret::Interpreter::create(
            loaded.value().model, {backends::reference::referenceBackend({1, false})});
        QVERIFY2(interpreter.ok(), interpreter.ok() ? "" : interpreter.error().message().c_str());
        const auto got = interpreter.value().run(feed);
        QVERIFY2(got.ok(), got.ok() ? "" : got.error().message().c_str());
        const auto want = io::readNpz(path + "-values.npz").value();
        QCOMPARE(got.value().size(), want.size());
        for (std::size_t i = 0; i < want.size(); ++i) {
            QCOMPARE(tensor::nameOf(got.value()[i].dtype()), tensor::nameOf(want[i].tensor.dtype()));
            QCOMPARE(got.value()[i].shape(), want[i].tensor.shape());
            const auto g = valuesOf(got.value()[i]);
            const auto w = valuesOf(want[i].tensor);
            for (std::size_t k = 0; k < w.size(); ++k)
                QVERIFY2(std::abs(g[k] - w[k]) <= 1e-5 * (1 + std::abs(w[k])), want[i].name.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestBodyValues)
#include "tst_body_values.moc"
