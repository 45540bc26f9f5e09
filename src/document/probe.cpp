// What a probe found out.
#include "base/json.h"
#include "document/document.h"

namespace trainscope {

Json effects_json(const ProbeResult& result) {
  Json effects = Json::array();
  for (const ProbeEffect& effect : result.effects) {
    effects.push_back({{"what", effect.what},
                       {"ratio", value_or_null(effect.ratio)},
                       {"low", value_or_null(effect.low)},
                       {"high", value_or_null(effect.high)},
                       {"verdict", effect.verdict},
                       {"blocks", effect.blocks},
                       {"discarded_steps", effect.discarded_steps},
                       {"reason", text_or_null(effect.reason)},
                       {"sentence", effect_sentence(effect)}});
  }
  return effects;
}

Json probe_document(const Manifest& manifest, const ProbeResult& result,
                    const std::string& problem) {
  return {{"schema", "trainscope.probe/1"},
          {"run", {{"id", manifest.id}, {"name", text_or_null(manifest.name)}}},
          {"job",
           {{"exit_code", value_or_null(manifest.exit_code)},
            {"signal", value_or_null(manifest.signal)},
            {"ended_by", text_or_null(ended_by_name(manifest.ended_by))}}},
          {"effects", effects_json(result)},
          {"conclusion", text_or_null(probe_conclusion(result))},
          {"has_replaced_input", result.has_replaced_input},
          {"problem", text_or_null(problem)}};
}

}  // namespace trainscope
