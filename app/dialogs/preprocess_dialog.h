#pragma once

#include "app/live_jobs.h"
#include "core/io/model_io.h"
#include "core/io/pictures/preprocess.h"
#include "core/walks/run.h"
#include "widgets/common/latest_job.h"

#include <QDialog>
#include <QTemporaryDir>

#include <memory>
#include <vector>

class QDialogButtonBox;
class QGridLayout;
class QLabel;
class QToolButton;

namespace halftone::app {

class PictureRulesForm;

/// Shows how the attached pictures become the input of the model and lets a person correct it: the fields, and the usual presets side by
/// side, each with a picture as the network sees it and the top-1 of float32 over the first labelled pictures. A wrong guess often looks
/// plausible; its top-1 does not.
class PreprocessDialog : public QDialog
{
    Q_OBJECT

public:
    /// examples  a folder of pictures
    PreprocessDialog(std::shared_ptr<const io::LoadedModel> source, walks::ExampleOptions examples,
                     const JobSettings &settings, QWidget *parent = nullptr);

    /// The data with the rules that were written by accept().
    const walks::ExampleOptions &options() const { return m_data; }
    bool isMeasuring() const { return m_job.isRunning(); }
    void accept() override; ///< writes the rules

private:
    /// One way to preprocess, with its button.
    struct Tile
    {
        QString name;
        io::Preprocess rules;
        QToolButton *button = nullptr;
        QString score; ///< "top-1 82.8 %", or why there is none
    };

    void addTile(QGridLayout &grid, const QString &name, const io::Preprocess &rules);
    void showTile(Tile &tile);
    void measure(std::size_t tile); ///< it and those after it
    void showChosen();

    std::shared_ptr<const io::LoadedModel> m_source;
    walks::ExampleOptions m_data;
    JobSettings m_settings;
    io::Picture m_picture; ///< empty: none could be read
    std::shared_ptr<QTemporaryDir> m_rulesFiles; ///< of the presets, for the runs
    std::vector<Tile> m_tiles;
    PictureRulesForm *m_form = nullptr;
    QLabel *m_note = nullptr;
    QDialogButtonBox *m_buttons = nullptr;
    widgets::LatestJob m_job; ///< last: ends first
};

} // namespace halftone::app
