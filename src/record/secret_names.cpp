// Which names have a secret for a value.
#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "base/text.h"
#include "record/redact.h"

namespace trainscope {

namespace {

using Words = std::vector<std::string>;

// Wherever they stand in a word: PGPASSWORD, clientsecret.
constexpr std::array<std::string_view, 10> kAnywhere = {
    "password", "passwd",        "passphrase", "passcode", "secret",
    "apikey",   "authorization", "credential", "cookie",   "bearer"};
// At the end of a word: hftoken, accesskey, sshpass, userpwd, oauth.
constexpr std::array<std::string_view, 9> kEndings = {"token", "tokens", "key",  "keys", "pass",
                                                      "pwd",   "auth",   "cred", "jwt"};
// Alone: too short to be looked for within other words.
constexpr std::array<std::string_view, 6> kWhole = {"pw", "otp", "pat", "sas", "creds", "cookies"};
// Words that only end so.
constexpr std::array<std::string_view, 13> kOnlySoundsSo = {
    "monkey", "turkey",  "hockey",   "donkey",   "hotkey",     "bypass",   "compass",
    "pass2",  "lowpass", "highpass", "bandpass", "singlepass", "multipass"};
// A name that ends with one of these leads to a secret, or describes one, but has none for a value.
constexpr std::array<std::string_view, 11> kNotTheSecret = {
    "file", "path", "dir", "folder", "type", "url", "uri", "endpoint", "format", "name", "env"};
// The key of a record, not of a door: --text-key caption.
constexpr std::array<std::string_view, 32> kKeysOfData = {
    "image", "text",   "label",  "input",   "output",  "data",    "dataset", "feature",
    "sort",  "target", "group",  "primary", "foreign", "column",  "field",   "prompt",
    "query", "value",  "row",    "caption", "audio",   "video",   "mask",    "state",
    "dict",  "metric", "lookup", "loss",    "reward",  "monitor", "json",    "partition"};
// A number behind a name with one of these is a measure: --max-new-tokens 512,
// num_key_value_heads=8.
constexpr std::array<std::string_view, 33> kMeasures = {
    "num",   "number", "max",    "min",     "length", "len",   "size",  "count",  "dim",
    "heads", "head",   "value",  "dropout", "prob",   "ratio", "rate",  "ids",    "idx",
    "index", "per",    "mask",   "budget",  "limit",  "chunk", "batch", "window", "layers",
    "level", "weight", "tokens", "keys",    "passes", "every"};

bool is_any_of(std::span<const std::string_view> list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// "--trainer.apiKey_2" is trainer, api, key.
Words words_of(std::string_view name) {
  Words words(1);
  for (size_t i = 0; i < name.size(); ++i) {
    const auto c = static_cast<unsigned char>(name[i]);
    const bool camel =
        i > 0 && std::isupper(c) != 0 && std::islower(static_cast<unsigned char>(name[i - 1])) != 0;
    if (std::isalpha(c) == 0 || camel) words.emplace_back();
    if (std::isalpha(c) != 0) words.back() += static_cast<char>(std::tolower(c));
  }
  std::erase(words, "");
  return words;
}

bool is_strong(std::string_view word) {
  return std::any_of(kAnywhere.begin(), kAnywhere.end(), [&](std::string_view secret) {
    return word.find(secret) != std::string_view::npos;
  });
}

bool sounds_secret(std::string_view word) {
  if (is_any_of(kOnlySoundsSo, word)) return false;
  return is_strong(word) || is_any_of(kWhole, word) ||
         std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return word.ends_with(ending); });
}

bool is_key_of_data(const Words& words) {
  bool has_data = false;
  for (const std::string& word : words) {
    if (sounds_secret(word) && word != "key" && word != "keys") return false;
    has_data = has_data || is_any_of(kKeysOfData, word);
  }
  return has_data;
}

// A number, true, false or none: nobody's secret where the name measures something.
bool is_plain_value(std::string_view value) {
  const std::string text = lower(value);
  if (text == "true" || text == "false" || text == "none" || text == "null") return true;
  return !text.empty() && text.size() <= 12 &&
         text.find_first_not_of("0123456789.e-+,") == std::string::npos;
}

}  // namespace

bool names_secret(std::string_view name) {
  const Words words = words_of(name);
  if (words.empty() || is_any_of(kNotTheSecret, words.back())) return false;
  if (!std::any_of(words.begin(), words.end(), sounds_secret)) return false;
  return !is_key_of_data(words);
}

bool holds_secret(std::string_view name, std::string_view value) {
  if (!names_secret(name)) return false;
  const Words words = words_of(name);
  const bool measures = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return is_any_of(kMeasures, word);
  });
  const bool strong = std::any_of(words.begin(), words.end(), is_strong);
  return strong || !measures || !is_plain_value(value);
}

bool is_switch(std::string_view name) {
  constexpr std::array<std::string_view, 10> kSwitches = {
      "use", "no", "with", "enable", "disable", "require", "allow", "skip", "has", "is"};
  const Words words = words_of(name);
  return !words.empty() && is_any_of(kSwitches, words.front());
}

}  // namespace trainscope
