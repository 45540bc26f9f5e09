#include "record/host/secret_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>
#include <vector>

#include "base/text.h"
#include "record/host/redact_parts.h"

namespace trainscope {

namespace {

using Words = std::vector<std::string>;

// Anywhere in a word: PGPASSWORD, clientsecret.
constexpr std::array<std::string_view, 10> kAnywhere = {
    "password", "passwd",        "passphrase", "passcode", "secret",
    "apikey",   "authorization", "credential", "cookie",   "bearer"};
// At the end of a word: hftoken, accesskey, sshpass, userpwd, oauth.
constexpr std::array<std::string_view, 9> kEndings = {"token", "tokens", "key",  "keys", "pass",
                                                      "pwd",   "auth",   "cred", "jwt"};
// Alone: too short to be searched for within other words.
constexpr std::array<std::string_view, 6> kWhole = {"pw", "otp", "pat", "sas", "creds", "cookies"};
// Words that only end like one.
constexpr std::array<std::string_view, 13> kOnlySoundsSo = {
    "monkey", "turkey",  "hockey",   "donkey",   "hotkey",     "bypass",   "compass",
    "pass2",  "lowpass", "highpass", "bandpass", "singlepass", "multipass"};
// A name that ends with one of these leads to a secret, or describes one, but has none for a value.
constexpr std::array<std::string_view, 17> kNotTheSecret = {
    "file", "path", "dir",  "folder", "type",     "url",    "uri",     "endpoint", "format",
    "name", "env",  "mode", "method", "provider", "scheme", "timeout", "ttl"};
// Directly before `key`, the key of a record and not of a door: --text-key caption.
constexpr std::array<std::string_view, 31> kKeysOfData = {
    "image",  "text",   "label",   "input",   "output",  "data",  "dataset",  "feature",
    "sort",   "target", "group",   "foreign", "column",  "field", "prompt",   "query",
    "value",  "row",    "caption", "audio",   "video",   "mask",  "state",    "dict",
    "metric", "lookup", "loss",    "reward",  "monitor", "json",  "partition"};
// Directly after `key`: --key-frames 3.
constexpr std::array<std::string_view, 8> kPartsOfKeys = {
    "frame", "frames", "point", "points", "padding", "proj", "projection", "bias"};
// Directly before `token`, a piece of text: --pad-token X.
constexpr std::array<std::string_view, 18> kTokensOfText = {
    "pad",   "bos", "eos",     "sos",    "unk",   "mask",  "sep",   "cls",         "stop",
    "start", "end", "special", "prefix", "image", "audio", "video", "placeholder", "blank"};
// Services that hand out keys, and kinds of keys to them: DATA_ACCESS_KEY, AZURE_TEXT_KEY.
constexpr std::array<std::string_view, 27> kOfServices = {
    "access",  "encryption", "encrypt", "api",     "storage",   "account", "private",
    "signing", "sign",       "master",  "service", "analytics", "azure",   "aws",
    "gcp",     "google",     "openai",  "cloud",   "cognitive", "search",  "subscription",
    "client",  "session",    "license", "auth",    "ssh",       "admin"};
// A number after a name with one of these is a measure: --max-new-tokens 512,
// num_key_value_heads=8.
constexpr std::array<std::string_view, 33> kMeasures = {
    "num",   "number", "max",    "min",     "length", "len",   "size",  "count",  "dim",
    "heads", "head",   "value",  "dropout", "prob",   "ratio", "rate",  "ids",    "idx",
    "index", "per",    "mask",   "budget",  "limit",  "chunk", "batch", "window", "layers",
    "level", "weight", "tokens", "keys",    "passes", "every"};

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

// The word at `i` sounds secret: checks whether it is only the key of a record, or a piece of text.
bool is_of_data(const Words& words, size_t i) {
  const std::string_view before = i == 0 ? std::string_view() : words[i - 1];
  const std::string_view after = i + 1 == words.size() ? std::string_view() : words[i + 1];
  if (words[i] == "key" || words[i] == "keys") {
    return is_any_of(kKeysOfData, before) || is_any_of(kPartsOfKeys, after);
  }
  return (words[i] == "token" || words[i] == "tokens") && is_any_of(kTokensOfText, before);
}

bool has_only_data(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (is_any_of(kOfServices, words[i])) return false;
    if (sounds_secret(words[i]) && !is_of_data(words, i)) return false;
  }
  return true;
}

// --pass 2: which pass over the data.
bool is_pass_number(const Words& words, std::string_view value) {
  return words.size() == 1 && words[0] == "pass" && !value.empty() && value.size() <= 2 &&
         value.find_first_not_of("0123456789") == std::string_view::npos;
}

// A number, true, false or none: not a secret if the name measures something.
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
  return !has_only_data(words);
}

bool holds_secret(std::string_view name, std::string_view value) {
  if (!names_secret(name)) return false;
  const Words words = words_of(name);
  const bool measures = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return is_any_of(kMeasures, word);
  });
  const bool strong = std::any_of(words.begin(), words.end(), is_strong);
  if (is_pass_number(words, value)) return false;
  return strong || !measures || !is_plain_value(value);
}

bool is_certain_secret(std::string_view name) {
  if (!names_secret(name)) return false;
  const Words words = words_of(name);
  const bool is_key =
      words.back() == "key" && std::any_of(words.begin(), words.end(), [](const std::string& word) {
        return is_any_of(kOfServices, word);
      });
  return is_key || std::any_of(words.begin(), words.end(), is_strong);
}

bool is_switch(std::string_view name) {
  constexpr std::array<std::string_view, 10> kSwitches = {
      "use", "no", "with", "enable", "disable", "require", "allow", "skip", "has", "is"};
  const Words words = words_of(name);
  return !words.empty() && is_any_of(kSwitches, words.front());
}

}  // namespace trainscope
