#pragma once

#include <QString>

namespace halftone::app {

class MainWindow;

/// Shows the window, waits until nothing is computed any more, writes it as a picture and gives the program's exit code:
/// 0; 1 when the model did not open or the picture cannot be written; 2 for an unknown view.
int takeScreenshot(MainWindow &window, const QString &path, const QString &view);

} // namespace halftone::app
