#pragma once

#include <QString>

class QTableView;

namespace halftone::widgets {

/// Sets up a table of figures: whole rows are selected, nothing is edited, columns can be sorted and moved. Needs: its model
/// name  for assistive technology
void setUpRows(QTableView *view, const QString &name);

} // namespace halftone::widgets
