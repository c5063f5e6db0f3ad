#pragma once

#include "core/session/export.h"

#include <QDialog>

class QCheckBox;
class QDialogButtonBox;
class QLineEdit;
class QListWidget;

namespace halftone::app {

/// Asks what to write and where, and shows every file that will be written, and what it would replace, before it is done.
class ExportDialog : public QDialog
{
    Q_OBJECT

public:
    /// source  the model's files, which are never written over
    ExportDialog(const QString &prefix, const std::vector<std::string> &source, bool hasParameters,
                 QWidget *parent = nullptr);

    /// Offers to correct the biases of int8 layers, which is off at first. whyNot: why that is impossible now; empty: it is possible.
    void offerCorrection(const QString &whyNot);

    session::ExportOptions options() const;
    bool correctsBiases() const;

private:
    void refresh();

    std::vector<std::string> m_source;
    bool m_hasParameters;
    bool m_canCorrect = false;
    QLineEdit *m_prefix = nullptr;
    QCheckBox *m_model = nullptr;
    QCheckBox *m_correct = nullptr; ///< hidden where there is no int8
    QCheckBox *m_policy = nullptr;
    QCheckBox *m_report = nullptr;
    QListWidget *m_files = nullptr;
    QDialogButtonBox *m_buttons = nullptr;
};

} // namespace halftone::app
