#include "core/results/profile_json.h"

#include "core/report/figures_object.h"
#include "core/report/json_values.h"

namespace halftone::results {

OrderedJson profileJson(const ProfileFacts &facts)
{
    OrderedJson native = OrderedJson::object();
    for (const auto &[type, support] : facts.backend.dtypes)
        native[std::string(tensor::nameOf(type))] = support == kernels::Support::Native;
    OrderedJson inputs = OrderedJson::object();
    for (const auto &[name, shape] : facts.inputs)
        inputs[name] = report::jsonShape(shape);
    OrderedJson versus;
    if (facts.versus)
        versus = {{"median_ms", facts.versus->medianMs},
                  {"ratio", facts.versus->ratio},
                  {"ci95", facts.versus->ci95}};
    OrderedJson json{{"backend", facts.backendName},
                     {"device", facts.backend.device},
                     {"native", std::move(native)},
                     {"inputs", std::move(inputs)}};
    json.update(report::latencyObject(facts.latency));
    json["versus"] = std::move(versus);
    json["disturbed"] = latency::isDisturbed(facts.latency) || (facts.versus && facts.versus->isDisturbed);
    return json;
}

} // namespace halftone::results
