#include "tests/widgets/models/sample_document.h"
#include "widgets/common/name_delegate.h"
#include "widgets/plots/custom_plot.h"
#include "widgets/plots/tune_plot.h"
#include "widgets/tune/group_table.h"
#include "widgets/tune/point_table.h"
#include "widgets/tune/tune_panel.h"

#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

using namespace halftone;
using namespace halftone::widgets;

/// The panel over a front that is made by hand: two groups of the sample, one of which loses much.
class TestTunePanel : public QObject
{
    Q_OBJECT

private:
    DocumentController m_controller;
    std::unique_ptr<TuneState> m_state;
    std::unique_ptr<TunePanel> m_panel;
    TunePlot *m_plot = nullptr;

    tune::Group group(const char *name, double narrowMicroseconds, double error) const
    {
        tune::Group group;
        group.name = name;
        group.nodes = group.decided = {test::nodeNamed(m_controller.snapshot()->graph(), name)};
        group.isTunable = group.isErrorKnown = true;
        group.costs.isAllowed = {true, true, false};
        group.costs.microseconds = {100, narrowMicroseconds, 0};
        group.costs.error = {0, error, 0};
        return group;
    }
    std::vector<std::string> convolutions() const
    {
        std::vector<std::string> names;
        const graph::Graph &graph = m_controller.snapshot()->graph();
        for (graph::NodeId id = 0; id < graph.nodeCount(); ++id) {
            if (graph.node(id).op == "Convolution")
                names.push_back(graph.node(id).name);
        }
        return names;
    }
    static tune::Point point(tune::Labels labels, double milliseconds, double sqnr, bool isMeasured)
    {
        tune::Point point;
        point.labels = std::move(labels);
        point.predicted = {milliseconds, sqnr};
        if (isMeasured) {
            point.measured = tune::Measurement();
            point.measured->milliseconds = milliseconds;
            point.measured->ci95 = {milliseconds - 0.01, milliseconds + 0.01};
            point.measured->sqnrDb = sqnr;
            point.measured->ratio = milliseconds / 0.2;
        }
        return point;
    }
    std::shared_ptr<tune::Front> front() const
    {
        using tune::Label;
        const std::vector<std::string> names = convolutions();
        auto made = std::make_shared<tune::Front>();
        made->groups = {group(names[0].c_str(), 40, 1e-2), group(names[1].c_str(), 60, 1e-5)};
        made->links = {{0, {1}, 5}};
        made->points
            = {point({Label::Float32, Label::Float32}, 0.2, std::numeric_limits<double>::infinity(), true),
               point({Label::Float32, Label::Target}, 0.165, 50, true),
               point({Label::Target, Label::Target}, 0.1, 20, true),
               point({Label::Target, Label::Float32}, 0.145, 20, false)};
        made->points[0].origin = tune::Origin::Float32;
        made->stoppedBy = tune::StoppedBy::Done;
        return made;
    }

    /// As the view's delegate draws a cell.
    static QString drawnText(const QTableView *view, const QStyleOptionViewItem &cell,
                             const QModelIndex &index)
    {
        struct Opened : NameDelegate
        {
            static QString textOf(const NameDelegate &delegate, QStyleOptionViewItem cell,
                                  const QModelIndex &index)
            {
                (delegate.*&Opened::initStyleOption)(&cell, index);
                return cell.text;
            }
        };
        return Opened::textOf(dynamic_cast<const NameDelegate &>(*view->itemDelegate()), cell, index);
    }

private Q_SLOTS:
    void init()
    {
        test::failOnWarnings();
        m_controller.setDocument(test::openSample());
        m_state = std::make_unique<TuneState>(&m_controller);
        m_plot = new TunePlot(&m_controller, m_state.get());
        m_panel = std::make_unique<TunePanel>(&m_controller, m_state.get(), m_plot);
        m_panel->resize(1000, 400);
        m_panel->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_panel.get()));
    }
    void cleanup()
    {
        m_panel.reset();
        m_state.reset();
    }

    void beforeASearchThePanelSaysWhatToDo()
    {
        QVERIFY(!m_plot->emptyText().isEmpty());
        m_state->setWhyNot(QStringLiteral("Attach data first."));
        QCOMPARE(m_plot->emptyText(), QStringLiteral("Attach data first."));
        auto *const run = m_panel->findChild<QPushButton *>(QStringLiteral("tune"));
        QVERIFY(!run->isEnabled());
        m_state->setWhyNot({});
        QSignalSpy wanted(m_state.get(), &TuneState::startWanted);
        run->click();
        QCOMPARE(wanted.size(), 1);
    }

    void pointsAreMeasuredOrPredictedAndTheBestAreOffered()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        QCOMPARE(m_state->places().size(), 4U);
        QVERIFY(m_state->places()[0].isOffered && m_state->places()[1].isOffered
                && m_state->places()[2].isOffered);
        QVERIFY(!m_state->places()[3].isMeasured && !m_state->places()[3].isOffered);
        QCOMPARE(m_plot->emptyText(), QString());
        QCOMPARE(m_plot->csv().count(QStringLiteral("\r\n")), 5);
    }

    void timesOfABusyMachineAreMarked()
    {
        const auto told = [this] {
            QStringList all;
            for (const QLabel *label : m_panel->findChildren<QLabel *>())
                all << label->text();
            return all.join(QLatin1Char('\n'));
        };
        auto made = std::make_shared<tune::Front>(*front());
        m_state->setFront(made, m_controller.snapshot()->policy);
        QVERIFY(!told().contains("machine was busy"));
        made = std::make_shared<tune::Front>(*made);
        made->points[1].measured->isDisturbed = true;
        m_state->setFront(made, m_controller.snapshot()->policy);
        QVERIFY(told().contains("machine was busy"));
        m_state->select(1);
        m_state->select(2);
        const PointTable *const points = m_panel->findChild<PointTable *>();
        QVERIFY(points);
        QVERIFY(
            points->index(PointTable::Time, 1).data().toString().contains("machine was busy: unreliable"));
        QVERIFY(!points->index(PointTable::Time, 0).data().toString().contains("machine was busy"));
        QCOMPARE(m_plot->csv().split("\r\n").filter(QRegularExpression(QStringLiteral(",1$"))).size(), 1);
        made = std::make_shared<tune::Front>(*front());
        made->areLayersDisturbed = true;
        m_state->setFront(made, m_controller.snapshot()->policy);
        QVERIFY(told().contains("machine was busy"));
    }

    void unreliableTimesAreOfferedToBeMeasuredAgain()
    {
        auto *const again = m_panel->findChild<QPushButton *>(QStringLiteral("measureAgain"));
        QVERIFY(again && !again->isVisible());
        m_state->setFront(front(), m_controller.snapshot()->policy);
        QVERIFY(!again->isVisible());
        auto made = std::make_shared<tune::Front>(*front());
        made->points[1].measured->isDisturbed = true;
        m_state->setFront(made, m_controller.snapshot()->policy);
        QVERIFY(again->isVisible());
        QSignalSpy wanted(m_state.get(), &TuneState::repeatWanted);
        again->click();
        QCOMPARE(wanted.size(), 1);
        m_state->setRunning(true);
        QVERIFY(!again->isVisible());
        m_state->setRunning(false);
        QVERIFY(again->isVisible());
    }

    /// Neither joined by the line nor adopted, and a point that only such a one beats is offered.
    void aPointWhoseTimeIsNotKnownIsNotOffered()
    {
        const std::array<double, 2> intervals[] = {{0.06, 0.13}, {0.09, 0.14}, {-0.01, 0.12}};
        for (const std::array<double, 2> &interval : intervals) {
            auto made = std::make_shared<tune::Front>(*front());
            made->points[2].measured->ci95 = interval; // around 0.1 ms
            made->points[3].measured = made->points[2].measured; // slower than it, with the same error
            made->points[3].measured->milliseconds = 0.145;
            made->points[3].measured->ci95 = {0.14, 0.15};
            m_state->setFront(made, m_controller.snapshot()->policy);
            QVERIFY(m_state->places()[1].isOffered);
            QVERIFY(!m_state->places()[2].isOffered);
            QVERIFY(m_state->places()[3].isOffered);
            QCOMPARE(m_state->fastestWithin(), std::optional<std::size_t>(3));
            m_state->select(1);
            m_state->select(2);
            const PointTable *const points = m_panel->findChild<PointTable *>();
            QVERIFY(points->index(PointTable::Time, 0).data().toString().contains("interval too wide"));
            m_state->select(std::nullopt);
        }
    }

    /// Sums of layers and medians of networks are told on one scale: that of both ends, which are known in both.
    void predictedTimesHaveTheScaleOfMeasuredOnes()
    {
        auto made = std::make_shared<tune::Front>(*front());
        made->points[2].origin = tune::Origin::Lowest;
        made->points[0].predicted.milliseconds = 0.25; // measured: 0.2
        made->points[2].predicted.milliseconds = 0.125; // measured: 0.1
        made->points[3].predicted.milliseconds = 0.1875; // halfway
        m_state->setFront(made, m_controller.snapshot()->policy);
        QVERIFY(std::abs(m_state->places()[3].milliseconds - 0.15) < 1e-9);
        QCOMPARE(m_state->places()[2].milliseconds, 0.1); // what was measured stays
    }

    void progressIsToldOnce()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        m_state->setRunning(true);
        m_state->setProgress(QStringLiteral("12 %, isolating groups"));
        int times = 0;
        for (const QLabel *label : m_panel->findChildren<QLabel *>())
            times += label->isVisible() && label->text().contains(u"12 %") ? 1 : 0;
        QCOMPARE(times, 1);
        m_state->setRunning(false);
    }

    /// Drawn as there is room for them, so that what tells them apart is left, and told and copied whole.
    void longNamesOfGroupsAreShortenedAndToldWhole()
    {
        auto made = std::make_shared<tune::Front>(*front());
        const std::vector<std::string> names = convolutions();
        made->groups.push_back(group(names[2].c_str(), 50, 1e-4));
        const char *const longNames[] = {"mobilenetv20_features_linearbottleneck0_conv0_fwd",
                                         "mobilenetv20_features_linearbottleneck1_conv0_fwd",
                                         "mobilenetv20_features_linearbottleneck1_conv1_fwd"};
        for (std::size_t k = 0; k < 3; ++k)
            made->groups[k].name = longNames[k];
        for (tune::Point &point : made->points)
            point.labels.push_back(tune::Label::Float32);
        m_state->setFront(made, m_controller.snapshot()->policy);
        m_state->select(1);
        QTableView *const view = m_panel->groups();
        QCOMPARE(view->model()->rowCount(), 3);
        view->setColumnHidden(GroupTable::Loss, true);
        const QModelIndex first = view->model()->index(0, GroupTable::Name);
        const QString name = first.data().toString();
        QVERIFY(name.startsWith(QStringLiteral("mobilenetv20_")));
        QVERIFY2(first.data(Qt::ToolTipRole).toString().startsWith(name + QLatin1Char('\n')),
                 qPrintable(first.data(Qt::ToolTipRole).toString()));

        QStyleOptionViewItem cell;
        cell.initFrom(view);
        cell.widget = view;
        cell.rect = QRect(0, 0, cell.fontMetrics.horizontalAdvance(name) - 1, 20);
        QCOMPARE(drawnText(view, cell, first), QString(name).remove("mobilenetv20_features_").remove("_fwd"));
        cell.rect.setWidth(cell.fontMetrics.horizontalAdvance(name) + 20);
        QCOMPARE(drawnText(view, cell, first), name);

        view->selectRow(0);
        const auto actions = view->actions();
        const auto copy = std::ranges::find(actions, QKeySequence(QKeySequence::Copy), &QAction::shortcut);
        QVERIFY(copy != actions.end());
        (*copy)->trigger();
        const QStringList lines = QGuiApplication::clipboard()->text().split(QLatin1Char('\n'));
        QCOMPARE(lines.size(), 2);
        QVERIFY2(lines[1].startsWith(name + QLatin1Char('\t')), qPrintable(lines[1]));
        QVERIFY(!lines[0].contains(QStringLiteral("Isolated"))); // hidden
    }

    void theMouseOverAPointPreviewsItAndAClickAdoptsItAsOneEdit()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        std::shared_ptr<const session::Snapshot> preview;
        connect(m_state.get(), &TuneState::previewChanged, this,
                [&](std::shared_ptr<const session::Snapshot> shown) { preview = std::move(shown); });
        m_state->hover(1);
        QVERIFY(preview);
        const graph::NodeId first = test::nodeNamed(preview->graph(), convolutions()[0]);
        const graph::NodeId second = test::nodeNamed(preview->graph(), convolutions()[1]);
        QCOMPARE(preview->precisionOf(first), tensor::DType::F32);
        QCOMPARE(preview->precisionOf(second), preview->policy->target);
        m_state->hover(std::nullopt);
        QVERIFY(!preview);

        const std::uint64_t before = m_controller.document()->revision();
        m_state->adopt(1);
        QVERIFY(m_controller.document()->revision() != before);
        QCOMPARE(m_controller.snapshot()->precisionOf(first), tensor::DType::F32);
        QCOMPARE(QString::fromStdString(m_controller.document()->undoText()),
                 QStringLiteral("Adopt 0.165 ms at 50.0 dB"));
        m_controller.undo();
        QCOMPARE(m_controller.document()->revision() != before, true);
        QCOMPARE(m_controller.snapshot()->precisionOf(first), m_controller.snapshot()->policy->target);
    }

    void theFastestWithinALimitIsFound()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        QCOMPARE(m_state->fastestWithin(), std::optional<std::size_t>(2));
        m_state->setLimit(tune::Limit{tune::Limit::Metric::Sqnr, 30});
        QCOMPARE(m_state->fastestWithin(), std::optional<std::size_t>(1));
    }

    void groupsSayWhatTheyGainAndCostAndArePinnedFromThere()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        m_state->select(1);
        m_state->select(2);
        const QAbstractItemModel &compared = *m_panel->comparison()->model();
        QVERIFY(m_panel->comparison()->isVisible());
        QCOMPARE(compared.index(PointTable::Time, 0).data().toString(), QStringLiteral("0.100 ms"));
        QCOMPARE(compared.index(PointTable::Time, 1).data().toString(), QStringLiteral("0.165 ms"));
        QCOMPARE(compared.index(PointTable::Sqnr, 1).data().toString(), QStringLiteral("50.0 dB"));
        QCOMPARE(compared.index(PointTable::Wide, 0).data().toString(), QStringLiteral("0 of 2"));
        QCOMPARE(compared.index(PointTable::Wide, 1).data().toString(), QStringLiteral("1 of 2"));
        const QAbstractItemModel &rows = *m_panel->groups()->model();
        QCOMPARE(rows.rowCount(), 2);
        const auto text = [&](int row, int column) { return rows.index(row, column).data().toString(); };
        // Sorted by what they save: the first convolution saves 60 of 100 us.
        QCOMPARE(text(0, GroupTable::Name), QString::fromStdString(convolutions()[0]));
        QCOMPARE(text(0, GroupTable::Gain), QStringLiteral("0.060"));
        QCOMPARE(text(0, GroupTable::Loss), QStringLiteral("20.0"));
        QCOMPARE(text(0, GroupTable::Other), QStringLiteral("float32"));
        QCOMPARE(text(0, GroupTable::Casts), QStringLiteral("0"));
        m_state->select(1);
        QCOMPARE(text(0, GroupTable::Casts), QStringLiteral("1"));
        QVERIFY(!rows.index(0, 0).data(Qt::ToolTipRole).toString().isEmpty());
        m_state->pin(0);
        QCOMPARE(m_controller.snapshot()->policy->nodeOverrides.at(convolutions()[0]), tensor::DType::F32);
    }

    /// With the mouse, before and after points and groups have changed.
    void aRowIsSelectedWithTheMouse()
    {
        const auto clickRow = [this](int row) {
            QTableView *const view = m_panel->groups();
            const QPoint at = view->visualRect(view->model()->index(row, GroupTable::Name)).center();
            QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, at);
            return view->currentIndex().row();
        };
        const auto nodeOf = [this](int row) {
            const QString name = m_panel->groups()->model()->index(row, GroupTable::Name).data().toString();
            return test::nodeNamed(m_controller.snapshot()->graph(), name.toStdString());
        };
        const auto now = front();
        m_state->setFront(now, m_controller.snapshot()->policy);
        auto fewer = std::make_shared<tune::Front>(*now);
        fewer->points.pop_back();
        auto fixed = std::make_shared<tune::Front>(*now);
        fixed->groups[0].isTunable = false; // it overflowed
        const std::shared_ptr<tune::Front> fronts[] = {now, fewer, fixed, now};
        for (const auto &next : fronts) {
            m_state->setFront(next, m_controller.snapshot()->policy);
            m_state->select(1);
            m_state->select(2);
            for (int row = m_panel->groups()->model()->rowCount() - 1; row >= 0; --row) {
                QCOMPARE(clickRow(row), row);
                QCOMPARE(m_controller.selection().current(), std::optional(nodeOf(row)));
                QVERIFY(m_panel->groups()->selectionModel()->isRowSelected(row));
            }
        }
        m_state->clear();
        QCOMPARE(m_panel->groups()->model()->rowCount(), 0);
    }

    /// The slider, the number and the limit are one thing; each metric begins where people do.
    void aSliderMovesTheLimit()
    {
        m_state->setFront(front(), m_controller.snapshot()->policy);
        auto *const slider = m_panel->findChild<QSlider *>();
        auto *const value = m_panel->findChild<QDoubleSpinBox *>();
        auto *const metric = m_panel->findChild<QComboBox *>();
        QVERIFY(!slider->isEnabled() && !m_state->limit());
        const auto choose = [&](int row) {
            metric->setCurrentIndex(row);
            Q_EMIT metric->activated(row);
        };
        choose(1);
        QVERIFY(slider->isEnabled());
        QCOMPARE(m_state->limit()->value, 30.0);
        QCOMPARE(m_state->fastestWithin(), std::optional<std::size_t>(1));
        slider->setFocus();
        QTest::keyClick(slider, Qt::Key_Home);
        QCOMPARE(value->value(), 0.0);
        QCOMPARE(m_state->limit()->value, 0.0);
        QCOMPARE(m_state->fastestWithin(), std::optional<std::size_t>(2));
        QTest::keyClick(slider, Qt::Key_End);
        QCOMPARE(m_state->limit()->value, 100.0);
        value->setValue(42.37); // finer than the slider's steps: the number stays
        QCOMPARE(m_state->limit()->value, 42.37);
        QCOMPARE(slider->value(), 85);
        value->setValue(130); // beyond its end
        QCOMPARE(m_state->limit()->value, 130.0);
        QCOMPARE(slider->value(), slider->maximum());
        choose(2);
        QVERIFY(m_state->limit()->metric == tune::Limit::Metric::Top1);
        QCOMPARE(m_state->limit()->value, -0.5);
        choose(0);
        QVERIFY(!m_state->limit() && !slider->isEnabled());
    }

    void correctionAndBoundAreTold()
    {
        const auto told = [this] {
            QString text;
            for (const QLabel *const label : m_panel->findChildren<QLabel *>())
                text += label->isVisible() ? label->text() + u'\n' + label->toolTip() : QString();
            return text;
        };
        auto one = front();
        one->kappa = 1.234;
        one->lowerBoundGap = 0.0123;
        m_state->setFront(one, m_controller.snapshot()->policy);
        QVERIFY2(told().contains(QStringLiteral("1.23, within 1.2 % of the bound")), qPrintable(told()));
        m_state->setRunning(true); // sums change with each measurement
        QVERIFY(!told().contains(QStringLiteral("of the bound")));
        m_state->setRunning(false);
        QVERIFY(told().contains(QStringLiteral("of the bound")));
        QVERIFY(!told().contains(QStringLiteral("more examples")));
        auto far = std::make_shared<tune::Front>(*one);
        far->kappa = 2.5;
        m_state->setFront(far, m_controller.snapshot()->policy);
        QVERIFY(told().contains(QStringLiteral("more examples")));
        auto unknown = std::make_shared<tune::Front>(*one);
        unknown->groups[0].isErrorKnown = false;
        m_state->setFront(unknown, m_controller.snapshot()->policy);
        QVERIFY(!told().contains(QStringLiteral("of the bound")));
    }

    /// While the point is there; a hand that rests over the drawing previews what is under it then.
    void aPreviewLastsAsLongAsItsPoint()
    {
        const auto now = front();
        m_state->setFront(now, m_controller.snapshot()->policy);
        std::shared_ptr<const session::Snapshot> preview;
        connect(m_state.get(), &TuneState::previewChanged, this,
                [&](std::shared_ptr<const session::Snapshot> shown) { preview = std::move(shown); });
        m_state->hover(3);
        QVERIFY(preview);
        m_state->setFront(now, m_controller.snapshot()->policy);
        QVERIFY(preview);
        auto fewer = std::make_shared<tune::Front>(*now);
        fewer->points.pop_back();
        m_state->setFront(fewer, m_controller.snapshot()->policy);
        QVERIFY(!preview && !m_state->hovered());
        QTest::mouseMove(m_plot->plot(), m_plot->pixelsOf(2)->toPoint());
        QTRY_COMPARE(m_state->hovered(), std::optional<std::size_t>(2));
        QVERIFY(preview);
        auto only = std::make_shared<tune::Front>(*now);
        only->points.resize(1);
        m_state->setFront(only, m_controller.snapshot()->policy);
        QVERIFY(m_state->hovered() != std::optional<std::size_t>(2));
        QCOMPARE(preview != nullptr, m_state->hovered().has_value());
    }

    void whatIsSelectedStaysWhileTheSearchGoesOn()
    {
        const auto now = front();
        m_state->setFront(now, m_controller.snapshot()->policy);
        m_state->select(2);
        const policy::Policy selected = m_state->places()[2].policy;
        auto more = std::make_shared<tune::Front>(*now);
        more->points.insert(more->points.begin(), more->points.back());
        more->points.pop_back();
        m_state->setFront(more, m_controller.snapshot()->policy);
        QVERIFY(m_state->selected());
        QVERIFY(m_state->places()[*m_state->selected()].policy == selected);
    }
};

QTEST_MAIN(TestTunePanel)
#include "tst_tune_panel.moc"
