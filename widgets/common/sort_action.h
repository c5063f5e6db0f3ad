#pragma once

class QAction;
class QTableView;

namespace halftone::widgets {

/// Sorts `view` by the column of its current cell, and the other way round when it is sorted by that already: what a click on the header does, for
/// the keyboard (S) and the context menu. The action belongs to the view.
QAction *sortAction(QTableView *view);

} // namespace halftone::widgets
