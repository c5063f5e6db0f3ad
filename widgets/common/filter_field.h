#pragma once

class QAbstractItemView;
class QLineEdit;

namespace halftone::widgets {

/// Down goes from a filter to what it has left, at its first row where nothing there is selected.
void leadDownTo(QLineEdit *filter, QAbstractItemView *view);

} // namespace halftone::widgets
