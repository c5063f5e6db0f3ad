#pragma once

#include "core/io/model_io.h"
#include "core/walks/examples.h"

#include <QDialog>
#include <QTimer>

class QComboBox;
class QDialogButtonBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;
class QVBoxLayout;

namespace halftone::app {

class PictureRulesForm;

/// preprocess.json beside a model: how pictures become its inputs.
QString usualRules(const io::LoadedModel &model);

/// labels.csv in a folder of pictures or beside it; empty where there is none.
QString labelsOf(const QString &folder);

/// Asks for the data that errors are computed with: an .npz or a folder of pictures, their preprocessing, their labels, and what
/// the task is judged by.
class AttachDialog : public QDialog
{
    Q_OBJECT

public:
    /// pictures  how many of a folder to take, at first
    /// model     that the data are for; null: pictures need a file that says how they become inputs
    AttachDialog(const std::optional<walks::ExampleOptions> &now, std::size_t pictures,
                 QWidget *parent = nullptr, const io::LoadedModel *model = nullptr);

    walks::ExampleOptions options() const;
    void accept() override; ///< writes preprocess.json first, where there is none

private:
    QLineEdit *addPath(class QFormLayout *form, const QString &label, const QString &hint, bool folderToo);
    QVBoxLayout *beginContent();
    void fit();
    void suggestExamples();
    void showAvailability();
    void takeInputs(); ///< as far as they have been typed
    void inputsChanged();
    void findLabels();
    void drawInputs();
    bool needsRules() const;

    const io::LoadedModel *m_model;
    QString m_writtenRules;
    std::size_t m_pictures;
    bool m_isCountChosen = false;
    QTimer m_typing; ///< runs while a path is being typed
    QWidget *m_content = nullptr; ///< all but the buttons
    QLineEdit *m_inputs = nullptr;
    QLineEdit *m_preprocess = nullptr;
    QLineEdit *m_labels = nullptr;
    QLineEdit *m_targets = nullptr;
    QComboBox *m_metric = nullptr;
    QSpinBox *m_examples = nullptr;
    QLabel *m_rulesNote = nullptr;
    QLabel *m_drawnNote = nullptr; ///< what drawn inputs mean, or why there are none
    PictureRulesForm *m_rules = nullptr; ///< null without a model
    QDialogButtonBox *m_buttons = nullptr;
};

} // namespace halftone::app
