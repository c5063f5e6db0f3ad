#pragma once

#include <QString>

class QAction;
class QTableView;

namespace halftone::widgets {

/// The shown columns of the rows that are chosen, of all where none is, separated by tabs, with their titles: names are whole,
/// however they are drawn.
QString copiedRows(const QTableView &view);

/// "Copy", by its key while the view has the focus; not yet added to it.
QAction *makeCopyAction(QTableView *view);

} // namespace halftone::widgets
