#include "app/dialogs/preferences_dialog.h"

#include "core/backends/backends.h"
#include "widgets/common/formatters.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QSpinBox>
#include <QVBoxLayout>

namespace halftone::app {
namespace {

constexpr std::size_t kMebibyte = std::size_t{1} << 20;

} // namespace

PreferencesDialog::PreferencesDialog(const Preferences &now, QWidget *parent)
    : QDialog(parent)
{
    setWindowTitle(tr("Preferences"));
    auto *const layout = new QVBoxLayout(this);
    auto *const form = new QFormLayout;
    layout->addLayout(form);
    const auto spin = [this, form](const QString &label, int least, int most, std::size_t value) {
        auto *const box = new QSpinBox(this);
        box->setRange(least, most);
        box->setValue(static_cast<int>(value));
        form->addRow(label, box);
        return box;
    };

    m_theme = new QComboBox(this);
    m_theme->addItem(tr("Same as the desktop"), static_cast<int>(Theme::Desktop));
    m_theme->addItem(tr("Light"), static_cast<int>(Theme::Light));
    m_theme->addItem(tr("Dark"), static_cast<int>(Theme::Dark));
    m_theme->setCurrentIndex(m_theme->findData(static_cast<int>(now.theme)));
    form->addRow(tr("&Theme"), m_theme);
    m_backend = new QComboBox(this);
    for (const backends::BackendInfo &backend : backends::allBackends()) {
        if (backend.available)
            m_backend->addItem(widgets::plain(backend.name + ": " + backend.device),
                               widgets::plain(backend.name));
    }
    m_backend->setCurrentIndex(std::max(0, m_backend->findData(widgets::plain(now.jobs.backend))));
    form->addRow(tr("&Backend"), m_backend);
    m_threads = spin(tr("T&hreads"), 0, 1024, now.jobs.threads);
    m_threads->setSpecialValueText(tr("all available"));
    m_memory = spin(tr("&Memory for errors and ranges"), 16, 1 << 20, now.jobs.memoryLimit / kMebibyte);
    m_memory->setSuffix(tr(" MiB"));
    m_repeats = spin(tr("&Runs of a latency measurement"), 3, 10000, now.jobs.repeats);
    m_pictures = spin(tr("&Pictures for live errors"), 0, 1000000, now.pictures);
    m_pictures->setSpecialValueText(tr("all of a folder"));

    auto *const buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    layout->addWidget(buttons);
}

void PreferencesDialog::focusMemory()
{
    m_memory->setFocus();
    m_memory->selectAll();
}

Preferences PreferencesDialog::preferences() const
{
    Preferences preferences;
    preferences.theme = static_cast<Theme>(m_theme->currentData().toInt());
    preferences.jobs.backend = m_backend->currentData().toString().toStdString();
    preferences.jobs.threads = static_cast<unsigned>(m_threads->value());
    preferences.jobs.memoryLimit = static_cast<std::size_t>(m_memory->value()) * kMebibyte;
    preferences.jobs.repeats = static_cast<std::size_t>(m_repeats->value());
    preferences.pictures = static_cast<std::size_t>(m_pictures->value());
    return preferences;
}

} // namespace halftone::app
