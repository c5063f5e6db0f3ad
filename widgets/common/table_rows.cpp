#include "widgets/common/table_rows.h"

#include <QHeaderView>
#include <QTableView>

namespace halftone::widgets {

void setUpRows(QTableView *view, const QString &name)
{
    constexpr int kAroundText = 6; // pixels
    view->setAccessibleName(name);
    view->setMouseTracking(true);
    view->setSortingEnabled(true);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setEditTriggers(QAbstractItemView::NoEditTriggers);
    view->setShowGrid(false);
    view->setAlternatingRowColors(true);
    view->setWordWrap(false);
    view->setTabKeyNavigation(false);
    view->setTextElideMode(Qt::ElideMiddle);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(view->fontMetrics().lineSpacing() + kAroundText);
    view->horizontalHeader()->setSectionsMovable(true);
    view->horizontalHeader()->setHighlightSections(false);
}

} // namespace halftone::widgets
