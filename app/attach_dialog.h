#pragma once

#include "core/session/examples.h"

#include <QDialog>

class QDialogButtonBox;
class QFormLayout;
class QLineEdit;
class QSpinBox;

namespace halftone::app {

/// Asks for the data that errors are computed with: an .npz or a folder of pictures, their preprocessing, their labels.
class AttachDialog : public QDialog
{
    Q_OBJECT

public:
    /// pictures  how many of a folder to take, at first
    AttachDialog(const std::optional<session::ExampleOptions> &now, std::size_t pictures,
                 QWidget *parent = nullptr);

    session::ExampleOptions options() const;

private:
    QLineEdit *addPath(class QFormLayout *form, const QString &label, const QString &hint, bool folderToo);
    void inputsChanged();

    std::size_t m_pictures;
    QLineEdit *m_inputs = nullptr;
    QLineEdit *m_preprocess = nullptr;
    QLineEdit *m_labels = nullptr;
    QSpinBox *m_examples = nullptr;
    QDialogButtonBox *m_buttons = nullptr;
};

} // namespace halftone::app
