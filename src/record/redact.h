// What must not be written down: values whose names tell a secret.
//
// Guarantees: when in doubt the value goes. Limits: a secret without a name beside it (a bare word)
// is not recognised.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

// …KEY…, …TOKEN…, …SECRET…, …PASS… in any case, but not what only sounds so (tokenizer, keypoint).
bool names_secret(std::string_view name);

// Names with their values in running text (`PASSWORD=x`, `"api_key": "x"`, `--token x`),
// credentials in URLs and what follows `Bearer`.
std::string redact_text(std::string_view text);

}  // namespace trainscope
