#pragma once

#include "widgets/common/document_controller.h"

#include <QObject>

class QWidget;

namespace halftone::widgets {

/// What is done to the lists as a whole: by a pattern, from and to files, as a program on the clipboard, back to the built-in ones. Nothing
/// happens while no model is open.
class PolicyCommands : public QObject
{
    Q_OBJECT

public:
    /// window  over which dialogs open
    PolicyCommands(DocumentController *controller, QWidget *window);

public Q_SLOTS:
    void editByPattern();
    void copyCall(); ///< a Python program that converts the model as the lists say
    void loadPolicy();
    void importLists();
    void savePolicy();
    void resetLists();

Q_SIGNALS:
    void said(const QString &text); ///< what came of it, or why nothing did
    void noted(const QString &text); ///< a detail, for the messages

private:
    DocumentController *m_controller;
    QWidget *m_window;
};

} // namespace halftone::widgets
