#pragma once

#include "core/session/export.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QDialogButtonBox;
class QLineEdit;
class QLabel;
class QListWidget;

namespace halftone::app {

/// Asks what to write and where, and shows every file that will be written, and what it would replace, before it is done.
class ExportDialog : public QDialog
{
    Q_OBJECT

public:
    /// source  the model that is open, whose files are never written over
    ExportDialog(const QString &prefix, std::shared_ptr<const io::LoadedModel> source,
                 QWidget *parent = nullptr);

    void setNote(const QString &text); ///< below the files: what else is to be known of them; "": nothing
    /// Offers to correct the biases of int8 layers, which is off at first. whyNot: why that is impossible now; empty: it is possible.
    void offerCorrection(const QString &whyNot);

    session::ExportOptions options() const;
    bool correctsBiases() const;

private:
    void refresh();
    bool addFiles(const QString &what, const session::ExportOptions &part);
    bool isSource(const std::string &path) const;

    std::shared_ptr<const io::LoadedModel> m_source;
    std::vector<const io::ModelFormat *> m_formats; ///< as m_format lists them
    bool m_canCorrect = false;
    QLineEdit *m_prefix = nullptr;
    QCheckBox *m_model = nullptr;
    QComboBox *m_format = nullptr; ///< hidden where there is only one
    QCheckBox *m_correct = nullptr; ///< hidden where there is no int8
    QCheckBox *m_policy = nullptr;
    QCheckBox *m_report = nullptr;
    QLabel *m_note = nullptr;
    QListWidget *m_files = nullptr;
    QDialogButtonBox *m_buttons = nullptr;
};

} // namespace halftone::app
