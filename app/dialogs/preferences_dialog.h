#pragma once

#include "app/settings.h"

#include <QDialog>

class QComboBox;
class QSpinBox;

namespace halftone::app {

class PreferencesDialog : public QDialog
{
    Q_OBJECT

public:
    explicit PreferencesDialog(const Preferences &now, QWidget *parent = nullptr);

    void focusMemory(); ///< for somebody who came to change the limit

    Preferences preferences() const;

private:
    QComboBox *m_theme = nullptr;
    QComboBox *m_backend = nullptr;
    QSpinBox *m_threads = nullptr;
    QSpinBox *m_memory = nullptr; ///< MiB
    QSpinBox *m_repeats = nullptr;
    QSpinBox *m_pictures = nullptr;
};

} // namespace halftone::app
