#pragma once

// Parsed once a build: what nearly every test of the window includes. Each file still includes what it uses.
#include "core/session/document.h"
#include "widgets/common/precompiled.h"

#include <QCoreApplication>
#include <QFile>
#include <QSignalSpy>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
