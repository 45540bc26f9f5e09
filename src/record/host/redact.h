// Hides secrets: values whose names indicate a secret, and words that look like one.
//
// Guarantees: when in doubt the value is hidden. Limits: a secret without a name next to it (a bare
// word) is recognised only by the shape that its issuer gives it (hf_…, ghp_…, AKIA…).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace trainscope {

// …key, …token, secret, password, auth in any case, but not similar names (tokenizer, text-key) or
// references to a secret (token-file).
bool names_secret(std::string_view name);
// The same with its value: --max-tokens 512 counts, --tokens abc does not.
bool holds_secret(std::string_view name, std::string_view value);
// --use-token, --no-auth: an option that most likely takes no value.
bool is_switch(std::string_view name);

// --password, --api-key: an option that always takes a secret, which may begin with a dash.
bool is_certain_secret(std::string_view name);

// Names with their values in running text (`PASSWORD=x`, `"api_key": "x"`, `--token x`),
// credentials in URLs, the word after `Bearer`, and tokens of known shapes.
std::string redact_text(std::string_view text);

// A shell command: additionally the secrets of each command in it, as redact_command() hides them.
// Spacing and the quotes around words stay.
std::string redact_line(std::string_view line);

// Tags of a run: the value of a key that indicates a secret, and secrets within other values.
std::map<std::string, std::string> redact_tags(const std::map<std::string, std::string>& tags);

}  // namespace trainscope
