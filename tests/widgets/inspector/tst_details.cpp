#include "tests/widgets/models/calibrated_sample.h"
#include "widgets/inspector/inspector_panel.h"

#include <QLatin1Char>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QUrl>

#include <algorithm>
#include <optional>

using namespace halftone;
using namespace halftone::widgets;

class TestDetails : public QObject
{
    Q_OBJECT

private:
    DocumentController m_controller;

    const session::Snapshot &snapshot() const { return *m_controller.snapshot(); }
    graph::NodeId node(const char *name) const { return test::nodeNamed(snapshot().graph(), name); }
    Details detailsOf(const char *name) const
    {
        return describeNode(snapshot(), m_controller.figures(), node(name));
    }
    static const DetailRow *row(const Details &details, const QString &section, const QString &label)
    {
        for (const DetailSection &one : details.sections) {
            for (const DetailRow &row : one.rows) {
                if (one.title == section && row.label == label)
                    return &row;
            }
        }
        return nullptr;
    }
    static QString value(const Details &details, const char *section, const char *label)
    {
        const DetailRow *const found = row(details, QLatin1String(section), QLatin1String(label));
        return found ? found->value : QStringLiteral("(none)");
    }
    static QString allText(const Details &details)
    {
        QString text = details.title + QLatin1Char('\n') + details.subtitle;
        for (const DetailSection &one : details.sections) {
            for (const DetailRow &row : one.rows)
                text += QLatin1Char('\n') + row.label + QStringLiteral(": ") + row.value;
        }
        return text;
    }

private Q_SLOTS:
    void init()
    {
        test::failOnWarnings();
        m_controller.setDocument(test::openSample());
        QVERIFY(m_controller.snapshot());
    }

    void aConvolutionSaysWhatItIsAndWhy()
    {
        const Details details = detailsOf("stage1_a_conv");
        QCOMPARE(details.title, QStringLiteral("stage1_a_conv"));
        QCOMPARE(details.subtitle, QStringLiteral("Convolution 3\u00d73, 16 \u2192 16"));
        QCOMPARE(value(details, "", "computes in"), QStringLiteral("float16"));
        QCOMPARE(value(details, "", "because"), QStringLiteral("its operator is in the target list"));
        QCOMPARE(value(details, "", "entry"),
                 QStringLiteral("target_dtype_ops: \"Convolution\" (built-in float16 1.9.1)"));
        QCOMPARE(value(details, "", "requested"), QStringLiteral("float16"));
        QVERIFY(value(details, "Inputs", "weight").endsWith(QStringLiteral("16\u00d716\u00d73\u00d73")));
        QVERIFY(row(details, QStringLiteral("Attributes"), QStringLiteral("num_filter")));
        // 16·16·3·3 values of 4 bytes.
        QVERIFY2(allText(details).contains(QStringLiteral("stored as float32, 9.0\u00a0KiB")),
                 qPrintable(allText(details)));
    }

    void theReasonFollowsTheEdit()
    {
        QVERIFY(m_controller.apply(policy::ExcludeNames{{"/stage1_a/"}}));
        const Details details = detailsOf("stage1_a_conv");
        QCOMPARE(value(details, "", "computes in"), QStringLiteral("float32"));
        QCOMPARE(value(details, "", "because"), QStringLiteral("this node is excluded"));
        QVERIFY(value(details, "", "entry").contains(QStringLiteral("/stage1_a/")));
    }

    void everyOperatorHasAReason()
    {
        const graph::Graph &graph = snapshot().graph();
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.isVariable(id))
                continue;
            const Details details = describeNode(snapshot(), m_controller.figures(), id);
            QVERIFY(value(details, "", "because") != QStringLiteral("(none)"));
        }
    }

    void aSharedCastNamesWhoSharesIt()
    {
        for (const rewrite::InsertedCast &cast : snapshot().converted->conversion.casts) {
            if (cast.readers.size() < 2 || cast.readers[0].node == rewrite::kNoNode
                || cast.readers[1].node == rewrite::kNoNode)
                continue;
            const std::string &first = snapshot().graph().node(cast.readers[0].node).name;
            const std::string &second = snapshot().graph().node(cast.readers[1].node).name;
            QVERIFY(allText(detailsOf(first.c_str())).contains(QStringLiteral("shared with ")));
            QVERIFY(allText(detailsOf(first.c_str())).contains(QString::fromStdString(second)));
        }
    }

    void parametersSayTheirStoredType()
    {
        QVERIFY(m_controller.apply(policy::SetCastParams{true}));
        const QString text = allText(detailsOf("fc_weight"));
        // 10·32 values: 1280 bytes in float32, 640 in float16.
        QVERIFY2(
            text.contains(QStringLiteral("stored as float32, 1.3\u00a0KiB \u2192 float16, 640\u00a0bytes")),
            qPrintable(text));
        QVERIFY(text.contains(QStringLiteral("fc")));
    }

    void figuresOfAnEarlierStateAreMarkedStale()
    {
        session::Figures figures = test::comparedFigures(snapshot(), 2);
        QVERIFY(figures.comparison);
        m_controller.setFigures(figures);
        const Details now = detailsOf("stem_conv");
        QVERIFY(!row(now, QStringLiteral("Error"), QStringLiteral("SQNR"))->isStale);
        QVERIFY(value(now, "Error", "SQNR").contains(QStringLiteral("dB, isolated ")));
        QVERIFY(m_controller.apply(policy::ExcludeNames{{"fc"}}));
        const Details later = detailsOf("stem_conv");
        QVERIFY(row(later, QStringLiteral("Error"), QStringLiteral("SQNR"))->isStale);
    }

    /// The sample's sum of squares lies between the largest numbers of the two types.
    void valuesAreHeldAgainstTheTargetType()
    {
        session::Figures figures;
        figures.calibration = test::calibratedSample(snapshot());
        QVERIFY(figures.calibration);
        m_controller.setFigures(figures);
        const QString inHalf = value(detailsOf("energy"), "Values", "in float16");
        QVERIFY2(!inHalf.startsWith(QStringLiteral("0 of")) && inHalf.contains(QStringLiteral("overflow")),
                 qPrintable(inHalf));
        QVERIFY(m_controller.apply(policy::SetTarget{tensor::DType::BF16}));
        const Details details = detailsOf("energy");
        QCOMPARE(value(details, "Values", "in float16"), QStringLiteral("(none)"));
        QVERIFY2(value(details, "Values", "in bfloat16").startsWith(QStringLiteral("0 of")),
                 qPrintable(value(details, "Values", "in bfloat16")));
    }

    void severalNodesAreCounted()
    {
        const std::vector nodes{node("stem_conv"), node("fc"), node("prob"), node("fc_weight")};
        const Details details = describeNodes(snapshot(), m_controller.figures(), nodes);
        QCOMPARE(details.title, QStringLiteral("4 nodes selected"));
        QCOMPARE(details.subtitle, QStringLiteral("1 variable among them"));
        QCOMPARE(value(details, "Precision", "float16"), QStringLiteral("2 operators"));
        QCOMPARE(value(details, "Precision", "float32"), QStringLiteral("1 operator"));
    }

    void theModelIsSummedUp()
    {
        const Details details = describeModel(snapshot(), m_controller.figures());
        QCOMPARE(details.subtitle, QStringLiteral("29 operators"));
        QCOMPARE(value(details, "Operators", "Convolution"), QStringLiteral("6"));
        QVERIFY(value(details, "", "casts").startsWith(QString::number(snapshot().castCount())));
    }

    void whatIsNotConvertedYetHasNoPrecisions()
    {
        const auto awaited
            = session::Document::unconverted(m_controller.document()->request(), nullptr, std::nullopt);
        const Details details = describeModel(*awaited, {});
        QCOMPARE(value(details, "Operators", "Convolution"), QStringLiteral("6"));
        QVERIFY(std::ranges::none_of(details.sections, [](const DetailSection &section) {
            return section.title == QStringLiteral("Precision");
        }));
    }

    void thePanelFollowsSelectionAndItsLinks()
    {
        InspectorPanel panel(&m_controller);
        QVERIFY(panel.toPlainText().contains(QStringLiteral("29 operators")));
        m_controller.selection().set(node("stem_bn"));
        QVERIFY(panel.toPlainText().startsWith(QStringLiteral("stem_bn")));
        QVERIFY(panel.toHtml().contains(QStringLiteral("node:%1").arg(node("stem_conv"))));
        QSignalSpy shown(&m_controller.selection(), &Selection::shownRequested);
        Q_EMIT panel.anchorClicked(QUrl(QStringLiteral("node:%1").arg(node("stem_conv"))));
        QCOMPARE(m_controller.selection().current().value(), node("stem_conv"));
        QCOMPARE(shown.count(), 1);
        Q_EMIT panel.anchorClicked(QUrl(QStringLiteral("node:999999")));
        QCOMPARE(m_controller.selection().current().value(), node("stem_conv"));
        m_controller.setDocument(nullptr);
        QVERIFY(panel.toPlainText().contains(QStringLiteral("Open a model")));
    }

    void longNamesLeaveRoomForTheirValues()
    {
        const QString name(60, QLatin1Char('n'));
        const Details details{QStringLiteral("model"),
                              {},
                              {{QStringLiteral("Compared with the source"),
                                {{QStringLiteral("over"), QStringLiteral("1 example"), {}, false, false, {}},
                                 {name, QStringLiteral("38.5 dB"), {}, false, false, {}}}}}};
        QTextDocument text;
        text.setDefaultTextOption([] {
            QTextOption option;
            option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
            return option;
        }());
        constexpr int kWidth = 230;
        text.setTextWidth(kWidth);
        text.setHtml(detailsHtml(details, QPalette()));
        QVERIFY(text.size().width() <= kWidth);
        const QTextBlock value = text.find(QStringLiteral("38.5 dB")).block();
        QCOMPARE(value.layout()->lineCount(), 1);
    }

    void aNumberAndItsUnitStayOnOneLine()
    {
        const QStringList values{QStringLiteral("38.5 dB, isolated 44.7 dB"),
                                 QStringLiteral("112 \u00b5s, fused with 2 others"),
                                 QStringLiteral("between 0.4 ms and 21 ms"), QStringLiteral("top-1 98.1 %")};
        Details details{QStringLiteral("node"), {}, {{QStringLiteral("Error"), {}}}};
        for (const QString &value : values)
            details.sections.front().rows.push_back({QStringLiteral("SQNR"), value, {}, false, false, {}});
        QTextDocument text;
        text.setHtml(detailsHtml(details, QPalette()));
        static const QRegularExpression unitFirst(QStringLiteral("^\\s*(dB|\u00b5s|ms|%)"));
        for (int width = 150; width < 400; ++width) {
            text.setTextWidth(width);
            text.size(); // lays out
            for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
                for (int k = 0; k < block.layout()->lineCount(); ++k) {
                    const QTextLine line = block.layout()->lineAt(k);
                    const QString shown = block.text().mid(line.textStart(), line.textLength());
                    QVERIFY2(!unitFirst.match(shown).hasMatch(),
                             qPrintable(QStringLiteral("%1 wide: %2").arg(width).arg(block.text())));
                }
        }
        for (const QString &value : values)
            QVERIFY2(text.toPlainText().contains(value), qPrintable(value)); // as it is copied
    }

    void namesCannotBringMarkup()
    {
        Details details{QStringLiteral("<b>x</b>"), QStringLiteral("a & b"), {}};
        details.sections.push_back(
            {QString(), {{QStringLiteral("<i>"), QStringLiteral("<img src=x>"), {}, false, false, {}}}});
        const QString html = detailsHtml(details, QPalette());
        QVERIFY(!html.contains(QStringLiteral("<b>x</b>")));
        QVERIFY(!html.contains(QStringLiteral("<img")));
        QVERIFY(!html.contains(QStringLiteral("<i>")));
    }
};

QTEST_MAIN(TestDetails)
#include "tst_details.moc"
