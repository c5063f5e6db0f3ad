#pragma once

#include "app/hosts/run_on_hosts.h"

#include <QDialog>

class QCheckBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;
class QSpinBox;
class QTableWidget;

namespace halftone::widgets {
class ChoiceBox;
}

namespace halftone::app {

/// Asks what to compute where, and shows how far each host is. Not modal: the document may be edited meanwhile, and closing the
/// dialog stops nothing.
class HostsDialog : public QDialog
{
    Q_OBJECT

public:
    HostsDialog(RunOnHosts *hosts, LiveJobs *jobs, QWidget *parent);

    void open() override; ///< as it is now
    void refresh(); ///< the document, its data or its lists are others

private:
    void buildForm();
    void buildProgress();
    void buildButtons();
    void addProgram(QFormLayout *form);
    HostTask task() const;
    HostRun run() const;
    void loadHosts();
    void begin();
    void start(const HostRun &run);
    void restart();
    void showState();
    void sayState();
    void fit();
    void showProgress();
    void showHosts(const RunProgress &progress);
    void tell(const QString &what, bool isFailure);
    void restoreSettings();
    void saveSettings() const;

    RunOnHosts *m_hosts;
    LiveJobs *m_jobs;
    QWidget *m_asked; ///< all that cannot be changed while it runs
    widgets::ChoiceBox *m_task;
    QSpinBox *m_examples;
    QCheckBox *m_alone;
    QPlainTextEdit *m_list;
    QLineEdit *m_program;
    QSpinBox *m_limit;
    QLabel *m_state;
    QProgressBar *m_bar;
    QLabel *m_phase;
    QTableWidget *m_table;
    QPlainTextEdit *m_output;
    QPushButton *m_start;
    QPushButton *m_anew;
    QPushButton *m_stop;
    std::optional<std::size_t> m_attached; ///< examples, when m_examples was set
};

} // namespace halftone::app
