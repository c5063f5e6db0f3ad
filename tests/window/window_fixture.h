#pragma once

#include "app/bars/recovery_bar.h"
#include "app/bars/suggestion_bar.h"
#include "app/document_files.h"
#include "app/live_jobs.h"
#include "app/main_window.h"
#include "app/settings.h"
#include "tests/support/cpu_clock.h"
#include "tests/widgets/models/sample_document.h"
#include "widgets/common/document_controller.h"
#include "widgets/graphview/graph_view.h"
#include "widgets/oplists/op_lists_panel.h"

#include <QApplication>
#include <QFile>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

namespace halftone::test {

inline const QString kSampleModel
    = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/digits-symbol.json");
inline const QString kSampleData = QStringLiteral(HALFTONE_SOURCE_DIR "/resources/sample/digits-test.npz");

/// Settings, recent files and journals in a folder of their own, gone with it. Make one before the application object.
class PrivateHome
{
public:
    PrivateHome()
    {
        qputenv("HOME", m_folder.path().toLocal8Bit());
        for (const char *name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"})
            qputenv(name, m_folder.path().toLocal8Bit());
        QFile::setPermissions(m_folder.path(), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        QCoreApplication::setApplicationName(QStringLiteral("halftone"));
        QCoreApplication::setOrganizationName(QStringLiteral("halftone"));
    }

private:
    QTemporaryDir m_folder;
};

/// Waits until nothing has run for some turns of the event loop: the end of one job may begin the next.
inline bool settle(const app::MainWindow &window, int milliseconds = 60000)
{
    constexpr int kTurns = 3;
    int calm = 0;
    const auto isCalm = [&window, &calm] {
        calm = window.isSettled() ? calm + 1 : 0;
        return calm >= kTurns;
    };
    return QTest::qWaitFor(isCalm, static_cast<int>(instrumented(milliseconds)));
}

/// Waits for the jobs of an edit: they begin with the event loop.
inline bool settleAfterEdit(const app::MainWindow &window)
{
    QTest::qWait(10);
    return settle(window);
}

/// The sample as an MXNet model, whose names the tests know.
inline std::optional<app::Sample> mxnetSample()
{
    for (const app::Sample &sample : app::samples()) {
        if (sample.model.endsWith(QStringLiteral("-symbol.json")))
            return sample;
    }
    return std::nullopt;
}

/// The sample without figures, for tests that ask for none.
inline void openQuickly(app::MainWindow &window)
{
    window.jobs().setErrorsWanted(false);
    window.openSample(mxnetSample());
    QTRY_VERIFY(window.controller().isOpen() && !window.files().isOpening() && window.jobs().data());
    window.jobs().cancel();
    QVERIFY(settle(window));
}

} // namespace halftone::test

/// main() of a test of the window. Other arguments: what comes before the application object.
#ifdef HALFTONE_TEST_IN_GROUP
#define HALFTONE_WINDOW_TEST(Test, ...)                                                                      \
    HALFTONE_TEST_IN_GROUP(Test, const halftone::test::PrivateHome home;                                     \
                           __VA_ARGS__ QApplication application(argc, argv);)
#else
#define HALFTONE_WINDOW_TEST(Test, ...)                                                                      \
    int main(int argc, char **argv)                                                                          \
    {                                                                                                        \
        const halftone::test::PrivateHome home;                                                              \
        __VA_ARGS__                                                                                          \
        QApplication application(argc, argv);                                                                \
        Test test;                                                                                           \
        return QTest::qExec(&test, argc, argv);                                                              \
    }
#endif
