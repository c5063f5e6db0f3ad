#pragma once

#include "core/io/pictures/preprocess.h"

#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace halftone::app {

/// How pictures become the input of a model, in fields, with a picture as the network sees it.
class PictureRulesForm : public QWidget
{
    Q_OBJECT

public:
    explicit PictureRulesForm(const graph::Model &model, QWidget *parent = nullptr);

    io::Preprocess rules() const;
    void setRules(const io::Preprocess &rules);
    /// Of whose pictures the first is shown.
    void setFolder(const QString &folder);
    QString note() const; ///< under the picture: the values that it has, or why there is none

private:
    QSpinBox *side(const QString &name, const QString &none);
    QLineEdit *numbers(const QString &name);
    void showRange();
    void takeRange(int index);
    void refresh();

    io::Picture m_picture; ///< empty: none could be read
    QString m_why; ///< not
    QComboBox *m_input;
    QComboBox *m_layout;
    QComboBox *m_colour;
    QSpinBox *m_width;
    QSpinBox *m_height;
    QSpinBox *m_shortSide;
    QComboBox *m_range;
    QLineEdit *m_mean;
    QLineEdit *m_scale;
    QLabel *m_preview;
    QLabel *m_note;
};

} // namespace halftone::app
