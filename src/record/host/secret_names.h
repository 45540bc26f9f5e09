// Which names indicate a secret; record/record.h has the functions that hide them.
#pragma once

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

}  // namespace trainscope
