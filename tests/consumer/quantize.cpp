// Calibrates MODEL on DATA, writes it in int8 under PREFIX and compares both on TEST. A call can be followed and given up.
#include <halftone/compare.h>
#include <halftone/quantize.h>

#include <cstdio>
#include <stop_token>

namespace api = halftone::api;

namespace {

int fail(const api::Error &error)
{
    std::fprintf(stderr, "error: %s\n", error.message.c_str());
    return 1;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const auto model = api::open(argv[1]);
    if (!model.ok())
        return fail(model.error());

    std::stop_source given;
    api::Data data;
    data.inputs = argv[2];
    const auto stopped
        = api::calibrate(model.value(), data, {},
                         {given.get_token(), [&given](double, std::string_view) { given.request_stop(); }});
    if (stopped.ok() || stopped.error().kind != api::ErrorKind::Cancelled)
        return 3;

    int reports = 0;
    double last = 0;
    const api::Progress progress{{}, [&](double share, std::string_view) {
                                     ++reports;
                                     last = share;
                                 }};
    const auto calibration = api::calibrate(model.value(), data, {}, progress);
    if (!calibration.ok())
        return fail(calibration.error());
    if (reports == 0 || last < 0 || last > 1)
        return 4;
    const auto quantized = api::quantize(model.value(), calibration.value());
    if (!quantized.ok())
        return fail(quantized.error());
    const auto written = api::save(quantized.value().model, argv[3]);
    if (!written.ok())
        return fail(written.error());

    const auto reopened = api::open(written.value().front());
    if (!reopened.ok())
        return fail(reopened.error());
    data.inputs = argv[4];
    const auto compared = api::compare(model.value(), reopened.value(), data);
    if (!compared.ok())
        return fail(compared.error());
    const api::Comparison &figures = compared.value();
    std::printf("%zu nodes in int8; %zu examples, float32 right %.3f, int8 %.3f\n",
                quantized.value().quantized.size(), figures.examples, figures.reference->top1,
                figures.other->top1);
}
