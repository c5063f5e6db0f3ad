#include "app/dialogs/help_dialogs.h"

#include "app/settings.h"
#include "core/api/halftone/version.h"
#include "core/backends/backends.h"
#include "widgets/common/formatters.h"

#include <QAction>
#include <QApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QHeaderView>
#include <QMainWindow>
#include <QMenu>
#include <QMenuBar>
#include <QTableWidget>
#include <QTextBrowser>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>
#include <vector>

namespace halftone::app {
namespace {

constexpr int kGuideWidth = 940; ///< pictures are 860 wide

using Row = std::pair<QString, QString>;

QString tr(const char *text)
{
    return QCoreApplication::translate("help", text);
}

void addActions(const QMenu *menu, const QString &path, std::vector<Row> &rows)
{
    const auto actions = menu->actions();
    for (const QAction *action : actions) {
        const QString text = QString(action->text()).remove('&').remove(QStringLiteral("…")).trimmed();
        if (action->menu())
            addActions(action->menu(), path + QStringLiteral(" \u203a ") + text, rows);
        else if (!action->shortcut().isEmpty())
            rows.emplace_back(action->shortcut().toString(QKeySequence::NativeText),
                              path + QStringLiteral(" \u203a ") + text);
    }
}

std::vector<Row> rowsOf(QMainWindow *window)
{
    std::vector<Row> rows;
    const auto menus = window->menuBar()->actions();
    for (const QAction *menu : menus)
        if (menu->menu())
            addActions(menu->menu(), QString(menu->text()).remove('&'), rows);
    const auto section = [&rows](const QString &place, const std::vector<Row> &keys) {
        for (const auto &[key, what] : keys)
            rows.emplace_back(key, place + QStringLiteral(" \u203a ") + what);
    };
    section(tr("Anywhere"), {{tr("Esc"), tr("close Find, or clear the selection")}});
    section(tr("Graph, lists and layers"),
            {{tr("T, I, F, W"), tr("move the selection to target, int8, fp32, widest")},
             {tr("C"), tr("conditions for the selected operator")},
             {tr("X"), tr("exclude the selected nodes")}});
    section(tr("Lists"),
            {{tr("Del"), tr("remove the selection from its list")},
             {tr("N"), tr("make the selection neutral")},
             {tr("Right, Left"), tr("list the nodes that share a row; put them together again")}});
    section(tr("Find"), {{tr("Ctrl+A"), tr("in the list: select all nodes found")}});
    section(tr("Graph"),
            {{tr("Arrows, Home, End"), tr("go to a neighbour, to the first or last node")},
             {tr("Page Up, Page Down"), tr("scroll")},
             {tr("Return, double click"), tr("unfold or fold a block")},
             {tr("Backspace"), tr("go up, out of a block")},
             {tr("Space"), tr("fit the whole graph")},
             {tr("Ctrl+wheel"), tr("zoom")},
             {tr("Ctrl+A"), tr("select all nodes")},
             {tr("Shift+drag, Ctrl+drag"), tr("rubber-band select; add to the selection")},
             {tr("Alt+click, Alt+Return"), tr("the same node in the other graph")},
             {tr("F3, Shift+F3"), tr("next and previous match")}});
    section(tr("Layers"),
            {{tr("Return"), tr("show the layer in the graph")},
             {tr("Ctrl+C"), tr("copy the selected rows")},
             {tr("S"), tr("sort by the current column; again to reverse")}});
    section(tr("Plots"), {{tr("Arrows, +, -, Home"), tr("move, zoom, show all")}});
    section(tr("Calibration"),
            {{tr("Left, Right, Page Up, Page Down"),
              tr("move the threshold; with Shift, Left and Right take larger steps")},
             {tr("Home"), tr("set the threshold to the largest value")},
             {tr("Return, Esc"), tr("accept or restore the threshold")}});
    return rows;
}

QDialog *dialog(QWidget *window, const QString &title, QWidget *content)
{
    auto *const box = new QDialog(window);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setWindowTitle(title);
    auto *const layout = new QVBoxLayout(box);
    layout->addWidget(content);
    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Close, box);
    QObject::connect(buttons, &QDialogButtonBox::rejected, box, &QDialog::close);
    layout->addWidget(buttons);
    box->resize(box->fontMetrics().averageCharWidth() * 80, box->fontMetrics().height() * 30);
    return box;
}

void showPage(QWidget *window, const QString &title, const QString &file)
{
    auto *const text = new QTextBrowser;
    const QString path = helpPath(file);
    if (path.isEmpty())
        text->setPlainText(tr("This page is missing from the installation."));
    else
        text->setSource(QUrl::fromLocalFile(path));
    text->setAccessibleName(title);
    QDialog *const box = dialog(window, title, text);
    // As wide as the pictures of the guide, so that nothing scrolls sideways.
    box->resize(std::max(box->fontMetrics().averageCharWidth() * 130, kGuideWidth),
                box->fontMetrics().height() * 44);
    box->open();
}

} // namespace

void showGuide(QWidget *window)
{
    showPage(window, tr("Guide"), QStringLiteral("guide.html"));
}

void showGlossary(QWidget *window)
{
    showPage(window, tr("Glossary"), QStringLiteral("glossary.html"));
}

void showShortcutSheet(QWidget *window)
{
    const std::vector<Row> rows = rowsOf(qobject_cast<QMainWindow *>(window));
    auto *const table = new QTableWidget(static_cast<int>(rows.size()), 2);
    table->setHorizontalHeaderLabels({tr("Keys"), tr("What they do")});
    table->verticalHeader()->hide();
    table->horizontalHeader()->setStretchLastSection(true);
    table->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table->setShowGrid(false);
    table->setTabKeyNavigation(false); // Tab goes on to the button
    table->setAlternatingRowColors(true);
    for (int i = 0; i < table->rowCount(); ++i) {
        const auto &[keys, what] = rows[static_cast<std::size_t>(i)];
        table->setItem(i, 0, new QTableWidgetItem(keys));
        table->setItem(i, 1, new QTableWidgetItem(what));
    }
    table->resizeColumnToContents(0);
    table->setSelectionBehavior(QAbstractItemView::SelectRows);
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->horizontalHeader()->setHighlightSections(false);
    table->setAccessibleName(tr("Shortcuts"));
    dialog(window, tr("Shortcuts"), table)->open();
}

void showAboutDialog(QWidget *window)
{
    QString backends;
    for (const backends::BackendInfo &backend : backends::allBackends())
        backends
            += QStringLiteral("<li>%1: %2</li>")
                   .arg(widgets::plain(backend.name).toHtmlEscaped(),
                        widgets::plain(backend.available ? backend.device + ", " + backend.why : backend.why)
                            .toHtmlEscaped());
    auto *const text = new QTextBrowser;
    text->setOpenExternalLinks(true);
    text->setAccessibleName(tr("About Halftone"));
    text->setHtml(tr("<h2>Halftone %1</h2>"
                     "<p>View and edit the mixed-precision conversion of neural networks.</p>"
                     "<p>The source code is licensed under the Apache License 2.0. The window links "
                     "QCustomPlot, so the "
                     "window as a whole is "
                     "distributed under the GNU General Public License, version 3. The core and the command "
                     "line are not.</p>"
                     "<p>Computes with</p><ul>%2</ul>"
                     "<p>Made with</p><ul>"
                     "<li>Qt %3: LGPL 3</li><li>QCustomPlot: GPL 3</li><li>oneDNN: Apache 2.0</li>"
                     "<li>Graphviz, run as a separate program: EPL 1.0</li><li>nlohmann/json: "
                     "MIT</li><li>CLI11: BSD 3-clause</li>"
                     "<li>RE2: BSD 3-clause</li><li>xxHash: BSD 2-clause</li><li>libpng: libpng licence</li>"
                     "<li>libzip: BSD 3-clause</li><li>libjpeg-turbo: IJG and BSD</li><li>stb_image: public "
                     "domain or MIT</li></ul>")
                      .arg(QStringLiteral(HALFTONE_VERSION), backends, QString::fromLatin1(qVersion())));
    dialog(window, tr("About Halftone"), text)->open();
}

} // namespace halftone::app
