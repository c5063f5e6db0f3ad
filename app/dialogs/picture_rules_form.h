#pragma once

#include "core/io/pictures/preprocess.h"

#include <QImage>
#include <QWidget>

#include <vector>

class QComboBox;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace halftone::app {

/// Preprocessing that models are usually trained with.
struct PicturePreset
{
    QString name; ///< "0 … 1, BGR"
    io::Preprocess rules;
};
/// Each usual range of values with each order of colours; input, layout and size are those of `base`. Grey stays grey.
std::vector<PicturePreset> usualPresets(const io::Preprocess &base);

/// The first picture of a folder. fails: for a folder without a picture that can be read
Result<io::Picture> firstPictureIn(const QString &folder);
/// A picture as the network gets it, its smallest value black and its largest white; null where the rules do not fit.
QImage pictureAsSeen(const io::Picture &picture, const io::Preprocess &rules);

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
    void setPicture(io::Picture picture); ///< that is shown
    QString note() const; ///< under the picture: the values that it has, or why there is none

Q_SIGNALS:
    void changed(); ///< rules()

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
