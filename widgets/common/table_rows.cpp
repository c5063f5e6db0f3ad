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
    // Once the rows have moved: what sorting is for stands at the top, wherever the selected row has gone.
    QObject::connect(view->horizontalHeader(), &QHeaderView::sortIndicatorChanged, view,
                     &QTableView::scrollToTop, Qt::QueuedConnection);
}

} // namespace halftone::widgets
