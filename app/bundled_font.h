#pragma once

#include <QString>

namespace halftone::app {

/// Where the system knows no font, every letter would be a box: then the one that a package brings (share/halftone/fonts) is taken.
/// Its family; empty where the system has fonts or the package has none. Needs a QApplication.
QString addFontWhereNoneIs();

} // namespace halftone::app
