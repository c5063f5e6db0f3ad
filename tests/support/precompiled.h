#pragma once

// Parsed once a build: what nearly every test includes. Each file still includes what it uses.
#include "core/base/precompiled.h"

#include <QCoreApplication>
#include <QFile>
#include <QString>
#include <QTemporaryDir>
#include <QTest>
