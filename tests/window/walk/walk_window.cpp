#include "app/bars/notice_bar.h"
#include "app/bars/recovery_bar.h"
#include "app/bars/status_line.h"
#include "app/bars/suggestion_bar.h"
#include "app/bookmarks_menu.h"
#include "app/focus_mark.h"
#include "app/live_jobs.h"
#include "app/main_window.h"
#include "app/window_style.h"
#include "tests/widgets/models/decoder_document.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/calibration/calibration_panel.h"
#include "widgets/graphview/canvas.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/inspector/inspector_panel.h"
#include "widgets/models/tune_state.h"
#include "widgets/oplists/op_list_view.h"
#include "widgets/oplists/op_lists_panel.h"
#include "widgets/plots/calibration_plot.h"
#include "widgets/plots/latency_plot.h"
#include "widgets/plots/threshold_handle.h"

#include <unistd.h>

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QDrag>
#include <QElapsedTimer>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMimeData>
#include <QMouseEvent>
#include <QSocketNotifier>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <span>
#include <string_view>

/// The program's own window, with an answer to a script (walk.sh) that cannot see: where things are, and whether all is at
/// rest. One line of standard input asks, one line of standard output answers; mouse and keys come from outside.
using namespace halftone;

namespace {

constexpr int kCalmMs = 150; ///< so long nothing may begin anew

QString shown(QString text)
{
    return text.remove('&').remove(QChar(0x2026)).trimmed();
}

/// A file in a file manager's window, which lies over a corner of the program's: to be dragged from there.
class FileElsewhere : public QLabel
{
public:
    explicit FileElsewhere(const QString &path)
        : QLabel(QFileInfo(path).fileName())
        , m_path(path)
    {
        setWindowFlags(Qt::Window | Qt::FramelessWindowHint | Qt::X11BypassWindowManagerHint);
        setGeometry(0, 0, 200, 24);
    }

protected:
    void mouseMoveEvent(QMouseEvent *event) override
    {
        if (!(event->buttons() & Qt::LeftButton) || m_isDragged)
            return;
        m_isDragged = true;
        auto *const drag = new QDrag(this);
        auto *const file = new QMimeData;
        file->setUrls({QUrl::fromLocalFile(m_path)});
        drag->setMimeData(file);
        drag->exec(Qt::CopyAction);
        hide();
        deleteLater();
    }

private:
    QString m_path;
    bool m_isDragged = false;
};

class Walk : public QObject
{
public:
    explicit Walk(app::MainWindow &window)
        : m_window(window)
        , m_input(STDIN_FILENO, QSocketNotifier::Read)
    {
        connect(&m_input, &QSocketNotifier::activated, this, &Walk::read);
        m_poll.setInterval(20);
        connect(&m_poll, &QTimer::timeout, this, &Walk::poll);
    }

private:
    void read()
    {
        char bytes[4096];
        const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof(bytes));
        if (count <= 0) {
            QApplication::exit(0);
            return;
        }
        m_rest.append(bytes, count);
        for (qsizetype end = m_rest.indexOf('\n'); end >= 0; end = m_rest.indexOf('\n')) {
            const QString line = QString::fromUtf8(m_rest.left(end));
            m_rest.remove(0, end + 1);
            take(line.section(' ', 0, 0), line.section(' ', 1));
        }
    }

    static void answer(const QString &text)
    {
        std::puts(qPrintable(text));
        std::fflush(stdout);
    }

    void take(const QString &question, const QString &rest)
    {
        if (question == u"settled")
            m_poll.start();
        else if (question == u"where")
            answer(placeText(where(rest.section(' ', 0, 0), rest.section(' ', 1))));
        else if (question == u"says")
            answer(says(rest.section(' ', 0, 0), rest.section(' ', 1)));
        else if (question == u"window")
            answer(QString::number(top()->winId()));
        else if (question == u"masks")
            answer(masks());
        else if (question == u"offer")
            answer(offer(rest));
        else
            answer("unknown " + question);
    }

    void poll()
    {
        if (!m_window.isSettled() || QApplication::overrideCursor())
            m_calm.restart();
        if (!m_calm.isValid())
            m_calm.start();
        if (m_calm.elapsed() < kCalmMs)
            return;
        m_poll.stop();
        m_calm.invalidate();
        answer(QStringLiteral("settled"));
    }

    /// A file to drag, and where it is.
    QString offer(const QString &path)
    {
        auto *const file = new FileElsewhere(path);
        file->show();
        return placeText(centreOf(file));
    }

    /// Pixels of the screen.
    QString placeText(const std::optional<QPoint> &place) const
    {
        if (!place)
            return QStringLiteral("nowhere");
        const double ratio = m_window.devicePixelRatioF();
        return QStringLiteral("%1 %2").arg(qRound(place->x() * ratio)).arg(qRound(place->y() * ratio));
    }

    static std::optional<QPoint> centreOf(const QWidget *widget)
    {
        return widget ? std::optional(widget->mapToGlobal(widget->rect().center())) : std::nullopt;
    }

    QWidget *top() const
    {
        return QApplication::activeModalWidget() ? QApplication::activeModalWidget() : &m_window;
    }

    /// Among what is seen of the topmost window.
    template <class Widget, class Test>
    Widget *find(const Test &test) const
    {
        for (Widget *widget : top()->findChildren<Widget *>()) {
            if (!widget->visibleRegion().isEmpty() && test(*widget))
                return widget;
        }
        return nullptr;
    }

    std::optional<QPoint> where(const QString &kind, const QString &name) const
    {
        if (kind == u"button")
            return centreOf(find<QAbstractButton>([&](const QAbstractButton &button) {
                return shown(button.text()) == name || button.accessibleName() == name;
            }));
        if (kind == u"field")
            return centreOf(find<QWidget>([&](const QWidget &widget) {
                return widget.accessibleName() == name && widget.isEnabled();
            }));
        if (kind == u"op" || kind == u"list")
            return whereInLists(kind, name);
        if (kind == u"node")
            return whereInGraph(name);
        if (kind == u"handle")
            return centreOf(handle());
        if (kind == u"menu")
            return whereInMenu(name);
        return std::nullopt;
    }

    std::optional<QPoint> whereInLists(const QString &kind, const QString &name) const
    {
        widgets::OpListView *const view = m_window.lists().view();
        const widgets::OpListModel &model = *m_window.lists().model();
        QModelIndex index;
        for (int list = 0; list < model.rowCount() && !index.isValid(); ++list) {
            const QModelIndex parent = model.index(list, 0);
            if (kind == u"list" && parent.data().toString().startsWith(name))
                index = parent;
            for (int row = 0; kind == u"op" && row < model.rowCount(parent); ++row)
                if (model.index(row, 0, parent).data().toString().startsWith(name))
                    index = model.index(row, 0, parent);
        }
        if (!index.isValid())
            return std::nullopt;
        view->scrollTo(index);
        return view->viewport()->mapToGlobal(view->visualRect(index).center());
    }

    std::optional<QPoint> whereInGraph(const QString &name) const
    {
        const auto *const scene = m_window.graphView().scene();
        const graph::NodeId node
            = test::nodeNamed(m_window.controller().snapshot()->graph(), name.toUtf8().constData());
        if (!scene || node == rewrite::kNoNode)
            return std::nullopt;
        const auto *const canvas = m_window.graphView().canvas();
        const QRectF rect = canvas->camera().toView(scene->items()[scene->itemOf(node)].rect);
        return canvas->mapToGlobal(rect.center().toPoint());
    }

    static std::optional<QPoint> whereInMenu(const QString &name)
    {
        const auto *const menu = qobject_cast<QMenu *>(QApplication::activePopupWidget());
        for (QAction *action : menu ? menu->actions() : QList<QAction *>()) {
            if (shown(action->text()).startsWith(name))
                return menu->mapToGlobal(menu->actionGeometry(action).center());
        }
        return std::nullopt;
    }

    const widgets::ThresholdHandle *handle() const
    {
        const auto *const plot = qobject_cast<widgets::CalibrationPlot *>(m_window.calibration().plots());
        if (!plot)
            return nullptr;
        const auto seen = std::ranges::find_if(
            plot->handles(), [](const auto *one) { return !one->visibleRegion().isEmpty(); });
        return seen == plot->handles().end() ? nullptr : *seen;
    }

    QString says(const QString &what, const QString &name) const
    {
        const auto &controller = m_window.controller();
        if (what == u"precision" && controller.snapshot())
            return QString::fromUtf8(
                tensor::nameOf(controller.snapshot()->precisionOf(test::nodeNamed(
                                   controller.snapshot()->graph(), name.toUtf8().constData())))
                    .data());
        if (what == u"thresholds" && controller.document())
            return QString::number(controller.document()->policy().thresholds.size());
        if (what == u"bookmarks")
            return QString::number(m_window.bookmarks().bookmarks().size());
        if (what == u"undo")
            return controller.document() && controller.document()->canUndo()
                ? QString::fromStdString(controller.document()->undoText())
                : QStringLiteral("nothing");
        if (what == u"data")
            return m_window.jobs().data() ? QStringLiteral("data") : QStringLiteral("none");
        if (what == u"times")
            return controller.figures().latency ? QStringLiteral("times") : QStringLiteral("none");
        if (what == u"tune")
            return tuneState();
        if (what == u"tune-points")
            return m_window.tune().fastestWithin() ? QStringLiteral("points") : QStringLiteral("none");
        if (what == u"dialog")
            return QApplication::activeModalWidget() ? QApplication::activeModalWidget()->windowTitle()
                                                     : QStringLiteral("none");
        if (what == u"suggestion") {
            const auto *const bar = m_window.findChild<app::SuggestionBar *>();
            return bar->isVisible() && bar->suggestion() ? QString::fromStdString(bar->suggestion()->action)
                                                         : QStringLiteral("none");
        }
        if (what == u"sides")
            return QString::number(static_cast<int>(m_window.graphView().sides()));
        if (what == u"colours")
            return QString::number(static_cast<int>(m_window.graphView().colourBy()));
        if (what == u"model")
            return controller.snapshot()
                ? QFileInfo(QString::fromStdString(controller.snapshot()->source->modelPath)).fileName()
                : QStringLiteral("none");
        if (what == u"selected")
            return QString::number(m_window.controller().selection().nodes().size());
        if (what == u"recovery")
            return m_window.recoveryBar().isVisible() ? QStringLiteral("offered") : QStringLiteral("none");
        return "unknown " + what;
    }

    QString tuneState() const
    {
        if (m_window.tune().isRunning())
            return QStringLiteral("running");
        if (m_window.tune().fastestWithin())
            return QStringLiteral("found");
        return m_window.findChild<app::NoticeBar *>(QStringLiteral("notice"))->isVisible()
            ? QStringLiteral("refused")
            : QStringLiteral("none");
    }

    /// What differs from machine to machine, or from time to time: times, dates and paths, as "left,top right,bottom".
    QString masks() const
    {
        QStringList masks;
        const double ratio = m_window.devicePixelRatioF();
        const auto add = [&](const QWidget *widget) {
            if (!widget || !widget->isVisible())
                return;
            const QPoint from = widget->mapToGlobal(QPoint()) * ratio;
            masks << QStringLiteral("%1,%2 %3,%4")
                         .arg(from.x())
                         .arg(from.y())
                         .arg(from.x() + qRound(widget->width() * ratio))
                         .arg(from.y() + qRound(widget->height() * ratio));
        };
        add(m_window.statusBar());
        add(&m_window.recoveryBar());
        add(m_window.findChild<widgets::LatencyPlot *>());
        add(m_window.findChild<widgets::InspectorPanel *>());
        for (QWidget *top : QApplication::topLevelWidgets()) {
            for (const QLineEdit *edit : top->findChildren<QLineEdit *>()) {
                if (edit->text().contains('/'))
                    add(edit);
            }
        }
        return masks.join(';');
    }

    app::MainWindow &m_window;
    QSocketNotifier m_input;
    QByteArray m_rest;
    QTimer m_poll;
    QElapsedTimer m_calm;
};

} // namespace

/// walk_window light|dark WIDTH HEIGHT MODEL, or: walk_window decoder FILE
int main(int argc, char **argv)
{
    if (argc == 3 && std::string_view(argv[1]) == "decoder")
        return test::writeDecoder(QString::fromLocal8Bit(argv[2])) ? 0 : 1;
    QApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QApplication::setStyle(new app::WindowStyle);
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("halftone"));
    QApplication::setOrganizationName(QStringLiteral("halftone"));
    QApplication::setCursorFlashTime(0); // a caret that blinks would be a difference
    const QStringList arguments = QApplication::arguments();
    if (arguments.size() != 5)
        return 2;
    app::applyTheme(arguments[1] == u"dark" ? app::Theme::Dark : app::Theme::Light);
    const app::FocusMark focusMark;
    app::MainWindow window;
    window.setGeometry(0, 0, arguments[2].toInt(), arguments[3].toInt());
    const Walk walk(window);
    window.open(arguments[4]);
    window.show();
    return QApplication::exec();
}
