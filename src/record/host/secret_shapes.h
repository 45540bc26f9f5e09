// Secrets that are known by their looks: credentials in URLs, and tokens as their issuers make
// them.
#pragma once

#include <string>
#include <string_view>

namespace trainscope {

inline constexpr std::string_view kHidden = "***";

// user:password@ after "scheme://", and long user parts, which are access tokens.
std::string redact_urls(std::string_view text);
// hf_…, ghp_…, sk-…, AKIA…, JSON web tokens and others, each as a whole word.
std::string redact_tokens(std::string_view text);

}  // namespace trainscope
