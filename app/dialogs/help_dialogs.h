#pragma once

class QWidget;

namespace halftone::app {

/// The first steps, with pictures.
void showGuide(QWidget *window);
/// What the words mean that window and command line use.
void showGlossary(QWidget *window);
/// All keys, read from the actions of `window`, and those of the graph.
void showShortcutSheet(QWidget *window);
/// Versions, and the licences of the libraries.
void showAboutDialog(QWidget *window);

} // namespace halftone::app
