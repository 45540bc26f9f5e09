// What a run is, apart from its values: the host, versions, settings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "compare/observed_run.h"
#include "model/switch_setting.h"

namespace trainscope {

namespace {

// A text, or a number as text; "" for anything else.
std::string plain_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return std::to_string(value.get<int64_t>());
  if (value.is_number()) return number_text(value.get<double>());
  return "";
}

std::string machine_text(const Json& host) {
  std::string text = text_field(host, "cpu_model");
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (const auto cpus = number_field(host, "job_cpus")) add(number_text(*cpus) + " CPUs");
  if (const auto bytes = number_field(host, "memory_bytes")) add(bytes_text(*bytes));
  std::map<std::string, int> gpus;
  const Json& listed = field(host, "gpus");
  if (listed.is_array()) {
    for (const Json& gpu : listed) ++gpus[text_field(gpu, "name")];
  }
  for (const auto& [name, count] : gpus) add(fmt::format("{} × {}", count, name));
  return text;
}

std::map<std::string, std::string> versions_of(const Json& host, const Manifest& manifest) {
  std::map<std::string, std::string> versions;
  const auto add = [&](const std::string& name, const std::string& version) {
    if (!version.empty()) versions[name] = version;
  };
  add("kernel", text_field(host, "kernel"));
  add("GPU driver", text_field(host, "gpu_driver"));
  add("trainscope", manifest.trainscope_version);
  const Json& software = field(host, "software");
  add("python", text_field(field(software, "python"), "version"));
  add("CUDA", text_field(field(software, "cuda"), "version"));
  const Json& packages = field(software, "packages");
  if (packages.is_object()) {
    for (const auto& [name, version] : packages.items()) add(name, plain_text(version));
  }
  return versions;
}

std::string setting_value(const Manifest& manifest, std::string_view name) {
  std::string all;
  for (const Setting& setting : manifest.settings) {
    if (setting.name == name) all += (all.empty() ? "" : ", ") + setting.value;
  }
  return all;
}

}  // namespace

std::optional<Price> parse_price(std::string_view text) {
  constexpr size_t kLongestCurrency = 8;
  text = trim(text);
  if (text.ends_with("/h")) text = trim(text.substr(0, text.size() - 2));
  const size_t space = std::min(text.find(' '), text.size());
  const auto per_h = parse_number(text.substr(0, space));
  const std::string_view currency = trim(text.substr(space));
  const bool is_currency =
      currency.size() <= kLongestCurrency && currency.find_first_of(" {}/") == currency.npos;
  if (!per_h || !std::isfinite(*per_h) || !(*per_h > 0) || !is_currency) return std::nullopt;
  return Price{*per_h, std::string(currency)};
}

RunFacts facts_of(const RunView& run) {
  const Manifest& manifest = run.manifest();
  const Json host = parse_json(run.host_json());
  const Sampling& sampling = run.sampling();
  RunFacts facts;
  facts.host = manifest.host_name.empty() ? text_field(host, "name") : manifest.host_name;
  facts.machine = machine_text(host);
  facts.threads = number_field(host, "threads");
  facts.period_s = sampling.period_s;
  facts.batch = run.training().batch;
  if (manifest.imported_format.empty()) facts.ranks = std::to_string(manifest.world_size);
  facts.step_source = run.training().source;
  facts.versions = versions_of(host, manifest);
  facts.data = setting_value(manifest, "data");
  facts.is_instrumented = is_on(manifest, "instrument");
  const auto probed = manifest.tags.find("probe");
  facts.is_probed = probed != manifest.tags.end() && probed->second == "true";
  const auto price = manifest.tags.find("price");
  if (price != manifest.tags.end()) {
    facts.price = parse_price(price->second);
    if (!facts.price) facts.unread_price = price->second;
  }
  facts.is_running = run.status() == RunStatus::running;
  facts.is_damaged = run.status() == RunStatus::damaged ||
                     std::any_of(sampling.gaps.begin(), sampling.gaps.end(),
                                 [](const Gap& gap) { return gap.is_damage; });
  const auto ticks = static_cast<double>(sampling.samples + sampling.missed);
  if (ticks > 0) facts.missed_share = static_cast<double>(sampling.missed) / ticks;
  return facts;
}

}  // namespace trainscope
