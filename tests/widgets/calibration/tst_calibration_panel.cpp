#include "core/report/calibration_json.h"
#include "tests/widgets/models/calibrated_sample.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/calibration/tensor_proxy.h"
#include "widgets/calibration/tensor_table_model.h"
#include "widgets/calibration/threshold_bar.h"
#include "widgets/common/short_names.h"
#include "widgets/common/table_copy.h"
#include "widgets/models/threshold_editor.h"

#include <nlohmann/json.hpp>

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLatin1Char>
#include <QLocale>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

using namespace halftone;
using namespace halftone::widgets;
using policy::ThresholdMethod;

namespace {

constexpr int kMostMs = 60000; ///< for thresholds of all tensors, without optimization and beside other tests

} // namespace

class TestCalibrationPanel : public QObject
{
    Q_OBJECT

private:
    session::Figures m_figures;
    std::unique_ptr<DocumentController> m_controller;
    std::unique_ptr<ThresholdEditor> m_editor;
    std::unique_ptr<CalibrationPanel> m_panel;

    std::size_t tensor(const char *name) const { return test::tensorNamed(*m_figures.calibration, name); }
    graph::NodeId node(const char *name) const
    {
        return test::nodeNamed(m_controller->snapshot()->graph(), name);
    }
    /// Of a tensor, as the table shows it.
    QVariant cell(const char *name, int column, int role = Qt::DisplayRole) const
    {
        return m_panel->model()->index(static_cast<int>(tensor(name)), column).data(role);
    }
    const policy::Policy &policy() const { return m_controller->document()->policy(); }
    /// To float16, in which it overflows.
    void lowerTheEnergy()
    {
        QVERIFY(m_controller->apply(
            policy::MoveOperators{{"sum", "square", "_mul_scalar", "_plus_scalar"}, policy::List::Target}));
        QTRY_VERIFY_WITH_TIMEOUT(!m_controller->isDeriving() && !m_editor->isChoosing(), kMostMs);
    }
    void choose(int row)
    {
        m_panel->bar()->method()->setCurrentIndex(row);
        Q_EMIT m_panel->bar()->method()->activated(row);
    }

private Q_SLOTS:
    void hoveringGoesBothWays()
    {
        m_panel->resize(900, 400);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
        Selection &selection = m_controller->selection();
        const QModelIndex row = m_panel->proxy()->mapFromSource(
            m_panel->model()->index(static_cast<int>(tensor("stem_conv_output")), 0));
        QTableView *const view = m_panel->view();
        view->scrollTo(row);
        QTest::mouseMove(view->viewport(), view->visualRect(row).center());
        QTRY_COMPARE(selection.hovered(), std::optional(node("stem_conv")));
        QEvent leave(QEvent::Leave);
        QCoreApplication::sendEvent(view->viewport(), &leave);
        QVERIFY(!selection.hovered());

        const auto colourOf = [&] {
            return view->viewport()->grab().toImage().pixelColor(view->visualRect(row).left() + 1,
                                                                 view->visualRect(row).center().y());
        };
        const QColor before = colourOf();
        selection.hover(node("stem_conv")); // as the graph does
        QVERIFY(colourOf() != before);
        selection.hover(std::nullopt);
        QCOMPARE(colourOf(), before);
    }

    void initTestCase()
    {
        const auto document = test::openSample();
        QVERIFY(document);
        const auto snapshot = test::snapshotOf(*document);
        m_figures = test::comparedFigures(*snapshot, 4);
        m_figures.calibration = test::calibratedSample(*snapshot);
        QVERIFY(m_figures.calibration);
    }

    void init()
    {
        test::failOnWarnings();
        m_controller = std::make_unique<DocumentController>();
        m_controller->setDocument(test::openSample());
        m_figures.comparisonRevision = m_controller->snapshot()->revision;
        m_controller->setFigures(m_figures);
        m_editor = std::make_unique<ThresholdEditor>(m_controller.get());
        m_panel = std::make_unique<CalibrationPanel>(m_controller.get(), m_editor.get(), new QWidget);
        m_panel->resize(1200, 320);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
        QTRY_VERIFY_WITH_TIMEOUT(m_editor->chosen() && !m_editor->isChoosing(), kMostMs);
    }

    void cleanup()
    {
        m_panel.reset();
        m_editor.reset();
        m_controller.reset();
    }

    void namesGetTheRoomThatRisksDoNotTake()
    {
        m_panel->resize(1100, 320);
        QTableView *const view = m_panel->view();
        const QFontMetrics metrics = view->fontMetrics();
        const auto longest = [&](int column) {
            int width = 0;
            for (int row = 0; row < m_panel->model()->rowCount(); ++row)
                width = std::max(
                    width, metrics.horizontalAdvance(m_panel->model()->index(row, column).data().toString()));
            return width;
        };
        QVERIFY(longest(TensorTableModel::Risk) < longest(TensorTableModel::Name)); // nothing is lowered yet
        QVERIFY(view->columnWidth(TensorTableModel::Risk) < 2 * longest(TensorTableModel::Risk)
                    + view->horizontalHeader()->sectionSizeHint(TensorTableModel::Risk));
        QVERIFY(view->columnWidth(TensorTableModel::Name) > view->columnWidth(TensorTableModel::Risk));
        const int before = view->columnWidth(TensorTableModel::Risk);
        lowerTheEnergy();
        QVERIFY(view->columnWidth(TensorTableModel::Risk) > before); // "450 of 450 values overflow float16"
    }

    void theModelsKeepTheRulesOfModels()
    {
        QAbstractItemModelTester model(m_panel->model());
        QAbstractItemModelTester proxy(m_panel->proxy());
        m_panel->setFilterText(QStringLiteral("conv"));
        m_panel->view()->sortByColumn(TensorTableModel::Sqnr, Qt::AscendingOrder);
        m_editor->setMethodOfAll(ThresholdMethod::Entropy);
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        m_controller->setFigures({});
        m_controller->setFigures(m_figures);
        m_controller->setDocument(nullptr);
    }

    void anEmptyPanelSaysWhichStepFillsIt()
    {
        QVERIFY(m_panel->emptyText().isEmpty());
        m_controller->setFigures({});
        QVERIFY(m_panel->emptyText().contains(QStringLiteral("Attach data")));
        m_panel->setDataAttached(true);
        QVERIFY(m_panel->emptyText().contains(QStringLiteral("are being collected in the background")));
        m_panel->setDataAttached(false);
        QVERIFY(m_panel->emptyText().contains(QStringLiteral("Attach data")));
        m_controller->setDocument(nullptr);
        QVERIFY(m_panel->emptyText().contains(QStringLiteral("Open a model")));
    }

    void chosenThresholdsAreToldBeforeThereAreStatistics()
    {
        QVERIFY(m_controller->apply(
            policy::SetThresholds{{"stem_conv_output"}, policy::ThresholdChoice{{}, 2.5}}));
        m_controller->setFigures({});
        QVERIFY(m_panel->emptyText().contains(QStringLiteral("stem_conv_output: 2.5")));
        m_controller->undo();
        QVERIFY(!m_panel->emptyText().contains(QStringLiteral("stem_conv_output")));
    }

    void theTensorMostAtRiskComesFirst()
    {
        lowerTheEnergy();
        const auto *const proxy = m_panel->proxy();
        QCOMPARE(proxy->index(0, 0).data().toString(), QStringLiteral("energy_output"));
        QVERIFY(proxy->index(0, TensorTableModel::Risk)
                    .data()
                    .toString()
                    .contains(QStringLiteral("overflow float16")));
        double before = 10;
        for (int row = 0; row < proxy->rowCount(); ++row) {
            const double severity
                = proxy->index(row, TensorTableModel::Risk).data(TensorTableModel::SortRole).toDouble();
            QVERIFY(severity <= before);
            before = severity;
        }
    }

    void theFiguresAreThoseOfTheTable()
    {
        // As `calibrate --json --method entropy --dtype auto` prints them.
        m_editor->setMethodOfAll(ThresholdMethod::Entropy);
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        walks::CalibrateOptions options;
        options.backend = "reference";
        options.examples.inputs = test::kSampleFolder + "digits-test.npz";
        options.examples.examples = 4;
        options.threshold.codes = calibration::CodeType::Auto;
        options.threshold.method = ThresholdMethod::Entropy;
        const auto outcome = m_controller->document()->session().calibrate(options);
        QVERIFY(outcome.ok());
        std::string text;
        const auto written = report::writeCalibration(outcome.value().tensors, options.threshold.method,
                                                      outcome.value().examples, 0,
                                                      [&text](std::string_view piece) -> Result<void> {
                                                          text += piece;
                                                          return {};
                                                      });
        QVERIFY(written.ok());
        const auto table = nlohmann::json::parse(text);
        QCOMPARE(static_cast<int>(table["tensors"].size()), m_panel->model()->rowCount());
        const auto number = [&](std::size_t row, int column) {
            return m_panel->model()
                ->index(static_cast<int>(row), column)
                .data(TensorTableModel::SortRole)
                .toDouble();
        };
        for (std::size_t k = 0; k < table["tensors"].size(); ++k) {
            const auto &row = table["tensors"][k];
            QCOMPARE(number(k, TensorTableModel::Threshold), row["threshold"].get<double>());
            const bool isByChannel = !m_editor->calibration()->tensors[k].channels.empty();
            if (row["sqnr_db"].is_number() && !isByChannel)
                QCOMPARE(number(k, TensorTableModel::Sqnr), row["sqnr_db"].get<double>());
            if (isByChannel && row["sqnr_db"].is_number()) // one scale for all is hardly ever better
                QVERIFY(number(k, TensorTableModel::Sqnr) > row["sqnr_db"].get<double>() - 1);
            if (row["sqnr_db_minmax"].is_number() && !isByChannel)
                QCOMPARE(number(k, TensorTableModel::MinMaxSqnr), row["sqnr_db_minmax"].get<double>());
            QCOMPARE(number(k, TensorTableModel::Overflow), row["fp16"]["overflow"].get<double>());
        }
    }

    /// The column shortens names; tips and copies have them whole, and the values' common ending tells nothing.
    void namesAreToldAndCopiedWhole()
    {
        for (const char *name : {"stage2_a_conv_output", "stage2_a_conv_weight"})
            QVERIFY(cell(name, TensorTableModel::Name, Qt::ToolTipRole)
                        .toString()
                        .startsWith(QLatin1String(name) + QLatin1Char('\n')));
        QStringList names;
        QStringList values;
        for (int row = 0; row < m_panel->model()->rowCount(); ++row) {
            names << m_panel->model()->index(row, TensorTableModel::Name).data().toString();
            if (!m_panel->model()->isParameter(row))
                values << names.back();
        }
        QCOMPARE(ShortNames(names, values).shortened("stage2_a_conv_output"),
                 QStringLiteral("stage2_a_conv"));
        m_editor->choose(tensor("stage2_a_conv_output"));
        QTRY_VERIFY(m_panel->view()->selectionModel()->hasSelection());
        QVERIFY2(copiedRows(*m_panel->view()).contains(QStringLiteral("\nstage2_a_conv_output\t")),
                 qPrintable(copiedRows(*m_panel->view())));
    }

    void overflowsAreThoseOfTheTargetType()
    {
        const auto header = [this](int role) {
            return m_panel->model()->headerData(TensorTableModel::Overflow, Qt::Horizontal, role).toString();
        };
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        QCOMPARE(header(Qt::DisplayRole), QStringLiteral("f16 overflow"));
        QVERIFY(cell("energy_output", TensorTableModel::Overflow).toInt() > 0);
        QVERIFY(m_controller->apply(policy::SetTarget{tensor::DType::BF16}));
        QTRY_VERIFY_WITH_TIMEOUT(!m_controller->isDeriving() && !m_editor->isChoosing(), kMostMs);
        QTRY_COMPARE(header(Qt::DisplayRole), QStringLiteral("b16 overflow"));
        QVERIFY2(
            header(Qt::ToolTipRole).contains(QStringLiteral("bfloat16, whose largest value is 3.39e+38")),
            qPrintable(header(Qt::ToolTipRole)));
        QCOMPARE(cell("energy_output", TensorTableModel::Overflow).toString(), QStringLiteral("0"));
    }

    void theFilterKnowsNamesAndRisks()
    {
        lowerTheEnergy();
        m_panel->setFilterText(QStringLiteral("overflow"));
        QVERIFY(m_panel->proxy()->rowCount() > 0);
        QVERIFY(m_panel->proxy()->rowCount() < 6);
        m_panel->setFilterText(QStringLiteral("STEM_conv"));
        for (int row = 0; row < m_panel->proxy()->rowCount(); ++row)
            QVERIFY(m_panel->proxy()->index(row, 0).data().toString().contains(QStringLiteral("stem_conv")));
        m_panel->setFilterText({});
        QCOMPARE(m_panel->proxy()->rowCount(), m_panel->model()->rowCount());
    }

    void whatTheFilterLeavesIsChosenByAClick()
    {
        m_editor->choose(0);
        const QString first = m_panel->model()->index(0, 0).data().toString();
        m_panel->setFilterText(QStringLiteral("stage2_add_output"));
        QCOMPARE(m_panel->proxy()->rowCount(), 1);
        QVERIFY(first != QStringLiteral("stage2_add_output"));
        const QRect row = m_panel->view()->visualRect(m_panel->proxy()->index(0, 0));
        QTest::mouseClick(m_panel->view()->viewport(), Qt::LeftButton, {}, row.center());
        QCOMPARE(QString::fromStdString(m_editor->tensor()->name), QStringLiteral("stage2_add_output"));
    }

    // The sample in float16: BatchNorm's statistics are read in float32 whatever the operator computes in.
    void whatStaysInFloat32IsNoRisk()
    {
        const auto uses = session::usesOf(*m_controller->snapshot(), *m_editor->calibration());
        for (std::size_t k = 0; k < uses.size(); ++k) {
            const std::string &name = m_editor->calibration()->tensors[k].name;
            if (name.ends_with("_moving_var"))
                QVERIFY2(!uses[k].isHeld, name.c_str());
            if (name == "stem_conv_output")
                QVERIFY(uses[k].isHeld);
        }
        const auto tensor = m_editor->calibration()->tensors.front();
        auto wide = tensor;
        wide.statistics.fp16.overflow = 1;
        const calibration::ChosenThreshold chosen{{}, wide.threshold};
        QVERIFY(session::riskOf(wide, chosen, tensor::DType::F16).isHard());
        QVERIFY(!session::riskOf(wide, chosen, tensor::DType::F16, {false, true}).isWarning());
    }

    void theSelectionIsTheWindows()
    {
        const auto row = [&](const char *name) {
            return m_panel->proxy()->mapFromSource(
                m_panel->model()->index(static_cast<int>(tensor(name)), 0));
        };
        m_panel->view()->setCurrentIndex(row("stem_bn_output"));
        QCOMPARE(m_controller->selection().current(), std::optional(node("stem_bn")));
        m_controller->selection().set(node("stem_conv"));
        QCOMPARE(m_panel->view()->currentIndex(), row("stem_conv_output"));
        m_controller->selection().clear();
        QVERIFY(!m_panel->view()->selectionModel()->hasSelection());
    }

    void everyChoiceIsOneEdit()
    {
        m_editor->choose(tensor("stem_conv_output"));
        QSignalSpy edits(m_controller.get(), &DocumentController::edited);
        const std::string name = "stem_conv_output";
        choose(1);
        QCOMPARE(edits.count(), 1);
        QCOMPARE(policy().thresholds.at(name).method, ThresholdMethod::Entropy);
        QVERIFY(!policy().thresholds.at(name).value);
        QTRY_COMPARE_WITH_TIMEOUT(cell("stem_conv_output", TensorTableModel::Method).toString(),
                                  QStringLiteral("entropy"), kMostMs);
        QVERIFY(cell("stem_conv_output", TensorTableModel::Method, TensorTableModel::OwnRole).toBool());
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        const double entropy = m_editor->value();
        choose(4); // by hand: as it is
        QCOMPARE(policy().thresholds.at(name).value, std::optional(entropy));
        choose(5); // the default
        QVERIFY(!policy().thresholds.contains(name));
        QCOMPARE(edits.count(), 3);
        m_controller->undo();
        m_controller->undo();
        QCOMPARE(m_panel->bar()->method()->currentIndex(), 1);
        m_controller->undo();
        QCOMPARE(m_panel->bar()->method()->currentIndex(), 5);
    }

    void aNumberTypedIsTheThreshold()
    {
        m_editor->choose(tensor("stem_conv_output"));
        QSignalSpy edits(m_controller.get(), &DocumentController::edited);
        QDoubleSpinBox *const box = m_panel->bar()->value();
        box->setFocus();
        Q_EMIT box->editingFinished(); // nothing was typed
        QCOMPARE(edits.count(), 0);
        box->selectAll();
        QTest::keyClicks(box, QLocale().toString(1.25));
        QTest::keyClick(box, Qt::Key_Return);
        QCOMPARE(policy().thresholds.at("stem_conv_output").value, std::optional(1.25));
        QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        QCOMPARE(cell("stem_conv_output", TensorTableModel::Method).toString(), QStringLiteral("by hand"));
        QCOMPARE(cell("stem_conv_output", TensorTableModel::Sqnr, TensorTableModel::SortRole).toDouble(),
                 *calibration::sqnrFromHistogram(m_editor->tensor()->statistics, 1.25,
                                                 m_editor->tensor()->threshold.range));
        QCOMPARE(edits.count(), 1);
    }

    void aNumberMayHaveAnExponent()
    {
        m_editor->choose(tensor("stem_conv_output"));
        QDoubleSpinBox *const box = m_panel->bar()->value();
        for (const auto &[typed, number] :
             {std::pair("1e9", 1e9), std::pair("2.5e-3", 2.5e-3), std::pair("2,5E+2", 250.0)}) {
            box->setFocus();
            box->selectAll();
            QTest::keyClicks(box, typed);
            QTest::keyClick(box, Qt::Key_Return);
            QCOMPARE(policy().thresholds.at("stem_conv_output").value, std::optional(number));
            QCOMPARE(box->value(), number);
            QTRY_VERIFY_WITH_TIMEOUT(!m_editor->isChoosing(), kMostMs);
        }
        box->selectAll();
        QTest::keyClicks(box, "1x-7"); // what is no part of a number is not taken
        QCOMPARE(box->text(), "17");
        box->setValue(box->value()); // given up
    }

    void anEditThatWouldChangeNothingSaysSo()
    {
        m_editor->choose(tensor("stem_conv_output"));
        QVERIFY2(m_panel->bar()->effectText().contains("no operator computes in int8"),
                 qPrintable(m_panel->bar()->effectText()));
    }

    void parametersCannotBeChosenFor()
    {
        m_editor->choose(tensor("stem_conv_weight"));
        QVERIFY(!m_panel->bar()->method()->isEnabled());
        QVERIFY(!m_panel->bar()->value()->isEnabled());
        QCOMPARE(cell("stem_conv_weight", TensorTableModel::Method).toString(), QStringLiteral("largest"));
    }

    void errorsOfLayerAndOutputAreDimmedUntilTheyAreOfThisState()
    {
        m_editor->choose(tensor("stem_conv_output"));
        const auto expected = [&](const char *of, double sqnr) {
            return QStringLiteral("%1 %2 dB").arg(QLatin1String(of)).arg(sqnr, 0, 'f', 1);
        };
        QVERIFY(m_panel->bar()->errorText().contains(
            expected("layer", m_figures.nodes[node("stem_conv")].cumulative->sqnrDb)));
        QVERIFY(m_panel->bar()->errorText().contains(
            expected("output", m_figures.comparison->comparison.outputs[0].figures.sqnrDb)));
        QVERIFY(!m_panel->bar()->isErrorStale());
        m_editor->setByHand(1);
        QVERIFY(m_panel->bar()->isErrorStale());
        session::Figures newer = m_figures;
        newer.comparisonRevision = m_controller->snapshot()->revision;
        m_controller->setFigures(newer);
        QVERIFY(!m_panel->bar()->isErrorStale());
    }

    void oneClickKeepsWhatOverflowsInFloat32()
    {
        QVERIFY(m_panel->bar()->adviceText().isEmpty());
        QVERIFY(m_controller->apply(
            policy::MoveOperators{{"sum", "square", "_mul_scalar", "_plus_scalar"}, policy::List::Target}));
        m_editor->choose(tensor("energy_output"));
        QVERIFY(m_panel->bar()->adviceText().contains(QStringLiteral("4 of 4 values overflow float16")));
        const std::uint64_t before = m_controller->document()->revision();
        m_panel->bar()->takeAdvice();
        QCOMPARE(m_controller->document()->revision(), before + 1);
        QCOMPARE(m_controller->snapshot()->precisionOf(node("energy")), tensor::DType::F32);
        QVERIFY(m_panel->bar()->adviceText().isEmpty());
        m_controller->undo();
        QVERIFY(!m_panel->bar()->adviceText().isEmpty());
    }

    void theExportedRowsAreThoseShown()
    {
        m_panel->setFilterText(QStringLiteral("stem_conv_output"));
        const QStringList lines = m_panel->csv().split(QStringLiteral("\r\n"), Qt::SkipEmptyParts);
        QCOMPARE(lines.size(), 2);
        QVERIFY(lines[0].startsWith(QStringLiteral("tensor,risk,method,threshold")));
        QCOMPARE(lines[1].split(QLatin1Char(','))[3].toDouble(),
                 (*m_editor->chosen())[tensor("stem_conv_output")].threshold.value);
    }

    void everyControlHasAName()
    {
        for (const QWidget *widget : m_panel->findChildren<QWidget *>()) {
            if (qobject_cast<const QComboBox *>(widget) || qobject_cast<const QTableView *>(widget)
                || qobject_cast<const QDoubleSpinBox *>(widget))
                QVERIFY2(!widget->accessibleName().isEmpty(), widget->metaObject()->className());
        }
    }
};

QTEST_MAIN(TestCalibrationPanel)
#include "tst_calibration_panel.moc"
