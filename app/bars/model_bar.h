#pragma once

#include <QToolBar>

#include <cstdint>

class QCheckBox;
class QToolButton;

namespace halftone::widgets {
class ChoiceBox;
class DocumentController;
} // namespace halftone::widgets

namespace halftone::app {

class ChipBox;
class LiveJobs;

/// The tool bar's part about the model: target and mode of the conversion, the data, which figures are kept up to date.
class ModelBar : public QToolBar
{
    Q_OBJECT

public:
    /// actions  stand before the rest; a null one is a separator
    ModelBar(widgets::DocumentController *controller, LiveJobs *jobs, const QList<QAction *> &actions,
             QWidget *parent = nullptr);

    void refresh(); ///< document or data have changed
    bool wantsErrors() const;
    bool wantsLatency() const;
    void setWantsErrors(bool wanted);
    void setWantsLatency(bool wanted);

Q_SIGNALS:
    void attachWanted();
    void chosen(); ///< target, mode or chip, which is done
    void refused(const QString &why); ///< a chip
    void warned(const QString &what); ///< about what was chosen for the chip

private:
    void addNamed(const QString &name, QWidget *widget, const QString &title);
    void addTarget();
    void addMode();
    void addChip();
    void tellChip();
    void addLiveBoxes();

    widgets::DocumentController *m_controller;
    LiveJobs *m_jobs;
    widgets::ChoiceBox *m_target = nullptr;
    widgets::ChoiceBox *m_mode = nullptr;
    ChipBox *m_chip = nullptr;
    std::uint64_t m_chosenRevision = 0; ///< of the chip, whose warnings are yet to be told; 0: none
    QToolButton *m_data = nullptr;
    QCheckBox *m_errors = nullptr;
    QCheckBox *m_latency = nullptr;
};

} // namespace halftone::app
