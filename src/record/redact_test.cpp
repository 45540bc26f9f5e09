#include "record/redact.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "record/record.h"

namespace trainscope {
namespace {

using Words = std::vector<std::string>;

TEST(Redact, HidesValuesOfNamedWords) {
  EXPECT_EQ(redact_command({"train", "--api-key=abc", "--token", "t0p", "PASSWORD=x=y z"}),
            (Words{"train", "--api-key=***", "--token", "***", "PASSWORD=***"}));
  EXPECT_EQ(redact_command({"wandb.api_key=abc,def&g"}), (Words{"wandb.api_key=***"}));
  EXPECT_EQ(redact_command({"env", "AWS_SECRET_ACCESS_KEY=q", "python"}),
            (Words{"env", "AWS_SECRET_ACCESS_KEY=***", "python"}));
}

TEST(Redact, LeavesOptionsBehindASwitch) {
  EXPECT_EQ(redact_command({"--use-token", "--lr", "0.1"}), (Words{"--use-token", "--lr", "0.1"}));
  EXPECT_EQ(redact_command({"--token"}), (Words{"--token"}));
}

TEST(Redact, HidesCredentialsInUrls) {
  EXPECT_EQ(redact_command({"s3://user:pa@ss@host/x"}), (Words{"s3://user:***@host/x"}));
  EXPECT_EQ(redact_command({"https://ghp_0123456789abcdef0123@github.com/a/b"}),
            (Words{"https://***@github.com/a/b"}));
  EXPECT_EQ(redact_command({"ssh://git@host/a", "http://host/a@b:c@d"}),
            (Words{"ssh://git@host/a", "http://host/a@b:c@d"}));
  EXPECT_EQ(redact_command({"http://h/x?a=1&token=abc&b=2"}),
            (Words{"http://h/x?a=1&token=***&b=2"}));
}

TEST(Redact, LooksIntoTextForAShell) {
  EXPECT_EQ(redact_command({"sh", "-c", "API_KEY=abc python t.py --token xyz --lr 1"}),
            (Words{"sh", "-c", "API_KEY=*** python t.py --token *** --lr 1"}));
  EXPECT_EQ(redact_command({"export PASSWORD='a b' && go"}),
            (Words{"export PASSWORD='***' && go"}));
}

TEST(Redact, LooksIntoJsonAndHeaders) {
  EXPECT_EQ(redact_text(R"({"api_key": "abc", "lr": 1})"), R"({"api_key": "***", "lr": 1})");
  EXPECT_EQ(redact_text(R"({"api_key":"a,b","lr":1})"), R"({"api_key":"***","lr":1})");
  EXPECT_EQ(redact_text("X-Api-Key: abc"), "X-Api-Key: ***");
  EXPECT_EQ(redact_text("authorised by Bearer abc.def"), "authorised by Bearer ***");
}

// The scheme in front of the secret must not be taken for the secret.
TEST(Redact, HidesAllOfAHeader) {
  EXPECT_EQ(redact_text("Authorization: Bearer abc.def"), "Authorization: ***");
  EXPECT_EQ(redact_text("Authorization: Basic dXNlcjpwdw=="), "Authorization: ***");
  EXPECT_EQ(redact_text("Cookie: a=1; b=2\nAccept: text"), "Cookie: ***\nAccept: text");
  EXPECT_EQ(redact_text("curl -H 'Authorization: Token abc' -H \"Cookie: a='1'; b=2\" http://h/x"),
            "curl -H 'Authorization: ***' -H \"Cookie: ***\" http://h/x");
  EXPECT_EQ(redact_text(R"({"Authorization": "Bearer abc", "n": 1})"),
            R"({"Authorization": "***", "n": 1})");
  EXPECT_EQ(redact_text("AUTHORIZATION=Basic abc next"), "AUTHORIZATION=*** next");
  EXPECT_EQ(redact_command({"curl", "-H", "Authorization: Basic abc def"}),
            (Words{"curl", "-H", "Authorization: ***"}));
  EXPECT_EQ(redact_command({"Authorization:", "Basic", "abc", "next"}),
            (Words{"Authorization:", "***", "***", "next"}));
  EXPECT_EQ(redact_command({"Bearer", "abc", "--bearer=d", "--bearer", "e"}),
            (Words{"Bearer", "***", "--bearer=***", "--bearer", "***"}));
}

TEST(Redact, HidesEveryBearer) {
  EXPECT_EQ(redact_text("Bearer abc and bearer def, Bearer"), "Bearer *** and bearer *** Bearer");
  EXPECT_EQ(redact_text("f\"Bearer {t}\" Bearer\tx"), "f\"Bearer ***\" Bearer\t***");
}

TEST(Redact, LeavesWhatOnlySoundsSecret) {
  const Words plain = {
      "--tokenizer",       "bert",       "--tokenizer=gpt2", "--max-new-tokens=512",
      "--max-tokens",      "512",        "--keypoints=17",   "token-server:8080",
      "/run/secrets/list", "--passes=3", "python",           "train.py"};
  EXPECT_EQ(redact_command(plain), plain);
}

TEST(Redact, WhenInDoubtItGoes) {
  EXPECT_EQ(redact_command({"--tokens=abc"}), (Words{"--tokens=***"}));
  EXPECT_EQ(redact_command({"--pass", "1234"}), (Words{"--pass", "***"}));
  EXPECT_EQ(redact_text("--password=\"unclosed x"), "--password=***");
}

}  // namespace
}  // namespace trainscope
