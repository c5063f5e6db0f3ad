#include "core/session/document.h"
#include "core/session/export.h"
#include "core/session/figures.h"
#include "core/session/live_comparison.h"
#include "core/session/saved_results.h"

#include <nlohmann/json.hpp>

#include <QRegularExpression>
#include <QTest>

#include <cmath>

using namespace halftone;
using session::Document;
using session::Figures;

namespace {

const std::string kSample = HALFTONE_SOURCE_DIR "/resources/sample/";

/// The sample with everything in float16, where sums overflow: infinities and NaN among the figures.
std::unique_ptr<Document> overflowing()
{
    auto document = Document::open(kSample + "digits-symbol.json");
    if (!document.ok())
        qFatal("%s", document.error().message().c_str());
    if (!document.value()->apply(policy::MoveOperators{{"sum"}, policy::List::Target}).ok())
        qFatal("sum cannot be moved");
    return std::move(document).value();
}

Figures compared(const session::Snapshot &snapshot, bool isolated)
{
    walks::CompareOptions options;
    options.backend = "reference";
    options.examples.inputs = kSample + "digits-test.npz";
    options.examples.examples = 6;
    options.settings.isolated = isolated;
    session::LiveComparison live;
    auto outcome = live.compare(snapshot, options, {});
    if (!outcome.ok())
        qFatal("%s", outcome.error().message().c_str());
    Figures figures;
    figures.comparison = std::make_shared<const walks::CompareOutcome>(std::move(outcome).value());
    figures.comparisonRevision = snapshot.revision;
    figures.isolatedRevision = isolated ? snapshot.revision : 0;
    latency::LayerLatency layer{
        {{"stem_conv", "stem_bn"}, "Convolution", tensor::DType::F32, "jit", kernels::StepKind::Compute},
        12.5,
        11};
    auto latency = std::make_shared<session::LatencyFigures>();
    latency->fp32 = {1.5, 1.25, 2, {layer}, 3, 0.5, 4096};
    latency->mixed = {1, 0.75, 1.5, {}, 0, 0.25, 2048};
    latency->fp32.deviceMs = 0.75; // as a GPU has it
    latency->fp32.launches = kernels::Launches{5, 7};
    latency->fp32.layers[0].limitUs = 3.5;
    latency->fp32.limitMs = 0.0035;
    latency->mixed.launches = kernels::Launches{4, std::nullopt};
    latency->versus = {1.5, 0.625, {0.5, 0.75}, true};
    figures.latency = std::move(latency);
    figures.latencyRevision = snapshot.revision;
    session::gatherByNode(figures, snapshot.graph());
    return figures;
}

bool isSame(double a, double b)
{
    return a == b || (std::isnan(a) && std::isnan(b));
}

void compareFigures(const std::optional<tensor::ErrorFigures> &got,
                    const std::optional<tensor::ErrorFigures> &want)
{
    QCOMPARE(got.has_value(), want.has_value());
    if (!want)
        return;
    QCOMPARE(got->count, want->count);
    QCOMPARE(got->nan, want->nan);
    QCOMPARE(got->overflow, want->overflow);
    QVERIFY(isSame(got->maxAbs, want->maxAbs) && isSame(got->meanAbs, want->meanAbs));
    QVERIFY(isSame(got->rmse, want->rmse) && isSame(got->cosine, want->cosine));
    QVERIFY(isSame(got->sqnrDb, want->sqnrDb) && isSame(got->maxRelative, want->maxRelative));
    QCOMPARE(got->relativeL2.has_value(), want->relativeL2.has_value());
    if (want->relativeL2)
        QVERIFY(isSame(*got->relativeL2, *want->relativeL2));
}

} // namespace

class TestSavedResults : public QObject
{
    Q_OBJECT

    std::unique_ptr<Document> m_document = overflowing();

    std::shared_ptr<const session::Snapshot> m_snapshot
        = Document::derive(m_document->request(), nullptr).value();

    const session::Snapshot &snapshot() const { return *m_snapshot; }

private Q_SLOTS:
    void whatIsWrittenIsRead()
    {
        for (const bool isolated : {false, true}) {
            const Figures figures = compared(snapshot(), isolated);
            const std::string text = session::resultsText(snapshot(), figures);
            const auto read = session::readResults(text, snapshot());
            QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
            const Figures &got = read.value();
            QCOMPARE(got.comparisonRevision, snapshot().revision);
            QCOMPARE(got.isolatedRevision, figures.isolatedRevision);
            QCOMPARE(got.comparison->other->top1, figures.comparison->other->top1);
            QVERIFY(got.comparison->task && got.comparison->task == figures.comparison->task);
            QCOMPARE(got.comparison->outputs, figures.comparison->outputs);
            QCOMPARE(got.comparison->comparison.firstDivergence,
                     figures.comparison->comparison.firstDivergence);
            bool hasOverflow = false;
            QCOMPARE(got.nodes.size(), figures.nodes.size());
            for (std::size_t k = 0; k < got.nodes.size(); ++k) {
                compareFigures(got.nodes[k].cumulative, figures.nodes[k].cumulative);
                compareFigures(got.nodes[k].isolated, figures.nodes[k].isolated);
                QCOMPARE(got.nodes[k].fp32.has_value(), figures.nodes[k].fp32.has_value());
                hasOverflow |= got.nodes[k].cumulative && got.nodes[k].cumulative->overflow > 0;
            }
            QVERIFY(hasOverflow);
            QCOMPARE(got.latency->fp32.layers[0].step.nodes, figures.latency->fp32.layers[0].step.nodes);
            QCOMPARE(got.latency->fp32.layers[0].limitUs, figures.latency->fp32.layers[0].limitUs);
            QCOMPARE(got.latency->fp32.limitMs, figures.latency->fp32.limitMs);
            QCOMPARE(got.latency->fp32.deviceMs, figures.latency->fp32.deviceMs);
            QCOMPARE(got.latency->fp32.launches->planned, std::size_t{5});
            QCOMPARE(*got.latency->fp32.launches->measured, std::size_t{7});
            QCOMPARE(got.latency->mixed.launches->planned, std::size_t{4});
            QVERIFY(!got.latency->mixed.launches->measured && !got.latency->mixed.deviceMs);
            QCOMPARE(got.latency->versus.ci95, figures.latency->versus.ci95);
            QVERIFY(got.latency->versus.isDisturbed);
            QCOMPARE(session::resultsText(snapshot(), got), text);
        }
    }

    /// Medians of other runs would give another quotient than the one that is told beside them.
    void theReportsTimesGiveTheQuotientBesideThem()
    {
        Figures figures = compared(snapshot(), false);
        const std::string page = session::reportPage(snapshot(), figures, {});
        const auto tells = [&page](const char *text) { return page.find(text) != std::string::npos; };
        QVERIFY(tells("\u00d70.62") || tells("\u00d70.63"));
        QVERIFY(tells("<td>float32<td class=n>1.500<"));
        QVERIFY(tells("<td>mixed<td class=n>0.938<")); // 0.625 of it, and not the 1 that it took by itself
        QVERIFY(!tells("p95"));
        QVERIFY(tells("unreliable")); // other work ran beside
    }

    void theReportIsDatedAndLinksToItsLayers()
    {
        Figures figures = compared(snapshot(), false);
        const std::string made = session::madeLine("1.2.3");
        QVERIFY(QRegularExpression(
                    QStringLiteral(
                        "^Written on \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC by Halftone 1\\.2\\.3 on .+\\.$"))
                    .match(QString::fromStdString(made))
                    .hasMatch());
        const std::string page = session::reportPage(snapshot(), figures, {}, nullptr, made);
        const auto tells = [&page](const std::string &text) { return page.find(text) != std::string::npos; };
        QVERIFY(tells(made.substr(0, 20)));
        QVERIFY(tells("over 6 examples"));
        QVERIFY(figures.comparison->comparison.firstDivergence);
        QVERIFY(tells("dB (half of the 11 significant bits of float16, 6.02 dB each): <b><a href=\"#l"));
        QVERIFY(tells("<table class=sortable>"));
        const QString text = QString::fromStdString(page);
        for (auto links = QRegularExpression(QStringLiteral("href=\"#(\\w+)\"")).globalMatch(text);
             links.hasNext();) { // all lead somewhere
            const QString id = links.next().captured(1);
            QVERIFY2(text.contains(QStringLiteral("id=%1>").arg(id))
                         || text.contains(QStringLiteral("id=\"%1\"").arg(id)),
                     qPrintable(id));
        }
        // Figures of other lists are not of these.
        figures.comparisonRevision = 0;
        QVERIFY(session::reportPage(snapshot(), figures, {}).find("Not compared: the comparison")
                != std::string::npos);
    }

    void anInt8ModelIsHeadedAsOne()
    {
        auto document = overflowing();
        QVERIFY(document->apply(policy::MoveOperators{{"Convolution"}, policy::List::Int8}).ok());
        const auto converted = Document::derive(document->request(), nullptr).value();
        QVERIFY2(!converted->error, converted->error ? converted->error->message().c_str() : "");
        const std::string page = session::reportPage(*converted, {}, {});
        QVERIFY(page.find("Quantized to int8; target of the other operators: float16") != std::string::npos);
        QVERIFY(page.find("operators in int8") != std::string::npos);
        const std::string plain = session::reportPage(snapshot(), {}, {});
        QVERIFY(plain.find("int8</div>") == std::string::npos);
        QVERIFY(plain.find("Mixed precision, target float16") != std::string::npos);
    }

    void aScoreThatMakesNoSenseIsRefused()
    {
        const QString text
            = QString::fromStdString(session::resultsText(snapshot(), compared(snapshot(), false)));
        const auto withTask = [&](const QString &task) {
            const qsizetype from = text.indexOf("\"task\":") + 7;
            const qsizetype to = text.indexOf('}', from) + 1;
            return session::readResults((text.left(from) + task + text.mid(to)).toStdString(), snapshot());
        };
        QVERIFY(withTask("null").ok());
        QVERIFY(!withTask("null").value().comparison->task);
        for (
            const char *wrong :
            {"7", "{}", "[]",
             R"({"metric":"f1","guessed":true,"reference":1,"other":1,"agreement":1,"examples":1,"peak":null})",
             R"({"metric":"psnr","guessed":1,"reference":1,"other":1,"agreement":1,"examples":1,"peak":null})",
             R"({"metric":"psnr","guessed":true,"reference":"x","other":1,"agreement":1,"examples":1,"peak":null})",
             R"({"metric":"psnr","guessed":true,"reference":1,"other":1,"agreement":1,"examples":-1,"peak":null})"})
            QVERIFY2(!withTask(QString::fromUtf8(wrong)).ok(), wrong);
        QString before = text; // as earlier versions wrote it
        before.remove(text.indexOf("\"task\":"), text.indexOf("\"outputs\":") - text.indexOf("\"task\":"));
        const auto read = session::readResults(before.toStdString(), snapshot());
        QVERIFY2(read.ok(), read.ok() ? "" : read.error().message().c_str());
    }

    void resultsOfAnEarlierStateAreNotKept()
    {
        Figures figures = compared(snapshot(), false);
        figures.comparisonRevision = figures.latencyRevision = snapshot().revision + 1;
        QCOMPARE(session::resultsText(snapshot(), figures), std::string());
        QCOMPARE(session::resultsText(snapshot(), {}), std::string());
    }

    /// Every value in turn is another type, or is gone.
    void whatDoesNotFitIsRefusedAndNeverCrashes()
    {
        using nlohmann::ordered_json;
        const ordered_json whole
            = ordered_json::parse(session::resultsText(snapshot(), compared(snapshot(), true)));
        const ordered_json flat = whole.flatten();
        int refused = 0;
        int tried = 0;
        for (const auto &[pointer, value] : flat.items()) {
            if (tried > 400)
                break;
            for (const ordered_json &other : {ordered_json(), ordered_json("x"), ordered_json(-1),
                                              ordered_json::array(), ordered_json(1e300)}) {
                ordered_json broken = whole;
                broken[ordered_json::json_pointer(pointer)] = other;
                refused += session::readResults(broken.dump(), snapshot()).ok() ? 0 : 1;
                ++tried;
            }
        }
        QVERIFY(refused > tried / 4);
        for (const char *text : {"", "[]", "{", "{\"comparison\":{}}", "{\"latency\":3}"})
            QVERIFY(!session::readResults(text, snapshot()).ok());
    }
};

QTEST_GUILESS_MAIN(TestSavedResults)
#include "tst_saved_results.moc"
