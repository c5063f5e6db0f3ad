#include "widgets/common/table_copy.h"

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <QTableView>

#include <vector>

namespace halftone::widgets {
namespace {

/// As other programs read it: numbers with ASCII's minus.
QString tsvField(QString text)
{
    return text.replace(QLatin1Char('\t'), QLatin1Char(' '))
        .replace(QLatin1Char('\n'), QLatin1Char(' '))
        .replace(QChar(0x2212), QLatin1Char('-'));
}

} // namespace

QString copiedRows(const QTableView &view)
{
    const QAbstractItemModel &model = *view.model();
    const QHeaderView *const header = view.horizontalHeader();
    std::vector<int> columns;
    for (int place = 0; place < header->count(); ++place) {
        if (const int column = header->logicalIndex(place); !view.isColumnHidden(column))
            columns.push_back(column);
    }
    QStringList lines;
    QStringList fields;
    for (const int column : columns)
        fields << tsvField(model.headerData(column, Qt::Horizontal).toString());
    lines << fields.join(QLatin1Char('\t'));
    const bool isAll = !view.selectionModel()->hasSelection();
    for (int row = 0; row < model.rowCount(); ++row) {
        if (!isAll && !view.selectionModel()->isRowSelected(row))
            continue;
        fields.clear();
        for (const int column : columns)
            fields << tsvField(model.index(row, column).data().toString());
        lines << fields.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

QAction *makeCopyAction(QTableView *view)
{
    auto *const action = new QAction(QCoreApplication::translate("tables", "Copy"), view);
    action->setShortcut(QKeySequence::Copy);
    action->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(action, &QAction::triggered, view,
                     [view] { QGuiApplication::clipboard()->setText(copiedRows(*view)); });
    return action;
}

} // namespace halftone::widgets
