#include "core/io/arrays/npz.h"
#include "core/tensor/elements.h"
#include "tests/support/call_cli.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace halftone;
using namespace halftone::test;

/// `halftone-cli rewrite` on files of ONNX: what comes out gives what ONNX Runtime recorded of what went in.
class CliRewriteTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void outputsStayWhatTheyWere_data();
    void outputsStayWhatTheyWere();
    void aPassThatTakesANumberIsToldIt_data();
    void aPassThatTakesANumberIsToldIt();
};

namespace {

const QString kModels = QStringLiteral(HALFTONE_TEST_DATA "/onnx/");

} // namespace

void CliRewriteTest::outputsStayWhatTheyWere_data()
{
    QTest::addColumn<QString>("model");
    QTest::addColumn<QString>("passes");
    const QStringList models{"constants", "constants-false", "choice", "transformer", "sums", "walk",
                             "lists"};
    for (const QString &model : models)
        for (const char *passes :
             {"fold-constants", "simplify-shapes", "dead-code", "raise-opset=21", "inline-functions",
              "raise-opset=23 simplify-shapes fold-constants share dead-code"})
            QTest::addRow("%s, %s", qPrintable(model), passes) << model << QString::fromLatin1(passes);
}

void CliRewriteTest::outputsStayWhatTheyWere()
{
    QFETCH(QString, model);
    QFETCH(QString, passes);
    QTemporaryDir folder;
    const QString made = folder.filePath(QStringLiteral("made.onnx"));
    const QString file = kModels + model.section('-', 0, 0) + ".onnx";
    QStringList arguments{"rewrite", file, "--out", made, "--json"};
    for (const QString &pass : passes.split(' '))
        arguments << "--pass" << pass;
    const CliOutcome outcome = callCli(arguments);
    if (outcome.code == 3 && outcome.err.contains("without ONNX"))
        QSKIP("this build was made without ONNX");
    QVERIFY2(outcome.code == 0, outcome.err.constData());

    const QString kind = model == QLatin1String("constants") || model == QLatin1String("choice")
        ? model + QStringLiteral("-true")
        : model;
    const QString out = folder.filePath(QStringLiteral("out.npz"));
    const CliOutcome ran = callCli({"run", made, "--inputs", kModels + kind + "-inputs.npz", "--out", out});
    QVERIFY2(ran.code == 0, ran.err.constData());
    const auto want = io::readNpz((kModels + kind + "-values.npz").toStdString()).value();
    const auto got = io::readNpz(out.toStdString()).value();
    for (const io::NamedTensor &expected : want) {
        const auto found = std::ranges::find(got, expected.name, &io::NamedTensor::name);
        QVERIFY2(found != got.end(), expected.name.c_str());
        QCOMPARE(found->tensor.shape(), expected.tensor.shape());
        std::vector<double> g(found->tensor.elementCount());
        std::vector<double> w(g.size());
        tensor::widen(found->tensor.dtype(), found->tensor.bytes().data(), g.size(), g.data());
        tensor::widen(expected.tensor.dtype(), expected.tensor.bytes().data(), w.size(), w.data());
        for (std::size_t i = 0; i < w.size(); ++i)
            QVERIFY2(std::abs(g[i] - w[i]) <= 1e-5 * (1 + std::abs(w[i])), expected.name.c_str());
    }

    arguments[1] = made; // changes nothing more
    arguments[3] = folder.filePath(QStringLiteral("again.onnx"));
    const CliOutcome again = callCli(arguments);
    QVERIFY2(again.code == 0, again.err.constData());
    for (const QJsonValue &pass : QJsonDocument::fromJson(again.out).object()["passes"].toArray())
        QVERIFY2(pass["changed"].toInt(-1) == 0, qPrintable(pass["name"].toString()));
}

void CliRewriteTest::aPassThatTakesANumberIsToldIt_data()
{
    QTest::addColumn<QString>("pass");
    QTest::addColumn<int>("code");
    QTest::addColumn<QString>("said");
    QTest::newRow("without") << "raise-opset" << 2 << "raise-opset=N";
    QTest::newRow("no number") << "raise-opset=new" << 2 << "raise-opset=N";
    QTest::newRow("empty") << "raise-opset=" << 2 << "raise-opset=N";
    QTest::newRow("huge") << "raise-opset=99999999999" << 2 << "raise-opset=N";
    QTest::newRow("none so new") << "raise-opset=99" << 2 << "99";
    QTest::newRow("one where none is taken") << "dead-code=3" << 2 << "expected dead-code";
    QTest::newRow("nearly") << "fold-constant" << 2 << "fold-constants";
    QTest::newRow("right") << "raise-opset=21" << 0 << "";
}

void CliRewriteTest::aPassThatTakesANumberIsToldIt()
{
    QFETCH(QString, pass);
    QFETCH(int, code);
    QFETCH(QString, said);
    QTemporaryDir folder;
    const CliOutcome outcome = callCli({"rewrite", kModels + "shape_arithmetic.onnx", "--pass", pass, "--out",
                                        folder.filePath(QStringLiteral("made"))});
    if (outcome.code == 3 && outcome.err.contains("without ONNX"))
        QSKIP("this build was made without ONNX");
    QVERIFY2(outcome.code == code, outcome.err.constData());
    QVERIFY2(outcome.err.contains(said.toUtf8()), outcome.err.constData());
}

QTEST_GUILESS_MAIN(CliRewriteTest)
#include "tst_cli_rewrite.moc"
