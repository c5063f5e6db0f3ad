#include "widgets/common/filter_field.h"

#include <QAbstractItemView>
#include <QLineEdit>
#include <QShortcut>

namespace halftone::widgets {

void leadDownTo(QLineEdit *filter, QAbstractItemView *view)
{
    auto *const down = new QShortcut(Qt::Key_Down, filter);
    down->setContext(Qt::WidgetShortcut);
    QObject::connect(down, &QShortcut::activated, view, [view] {
        view->setFocus(Qt::ShortcutFocusReason);
        if (!view->selectionModel()->hasSelection())
            view->setCurrentIndex(view->model()->index(0, 0, view->rootIndex()));
    });
}

} // namespace halftone::widgets
