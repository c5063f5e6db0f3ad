#include "widgets/common/sort_action.h"

#include <QAction>
#include <QHeaderView>
#include <QTableView>

namespace halftone::widgets {

QAction *sortAction(QTableView *view)
{
    auto *const action = new QAction(QTableView::tr("Sort by This Column"), view);
    action->setShortcut(Qt::Key_S);
    action->setShortcutContext(Qt::WidgetShortcut);
    QObject::connect(action, &QAction::triggered, view, [view] {
        const QModelIndex cell = view->currentIndex();
        if (!cell.isValid())
            return;
        const QHeaderView *const header = view->horizontalHeader();
        const bool isUpNow = header->sortIndicatorSection() == cell.column()
            && header->sortIndicatorOrder() == Qt::AscendingOrder;
        view->sortByColumn(cell.column(), isUpNow ? Qt::DescendingOrder : Qt::AscendingOrder);
        view->scrollToTop();
    });
    return action;
}

} // namespace halftone::widgets
