#pragma once

#include "core/mixed/convert_model.h"

#include <QtGlobal>

#include <utility>

namespace halftone::test {

/// A conversion that must succeed; where it does not, its error ends the test program.
inline mixed::ConvertedModel convert(const graph::Model &model, const policy::Policy &policy = {},
                                     const infer::ShapeMap *shapes = nullptr)
{
    auto converted = mixed::convertModel(model, policy, false, {}, shapes);
    if (!converted.ok())
        qFatal("%s", converted.error().message().c_str());
    return std::move(converted).value();
}

} // namespace halftone::test
