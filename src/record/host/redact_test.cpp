#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "record/record.h"

namespace trainscope {
namespace redact_test {

using Words = std::vector<std::string>;

TEST(Redact, hides_values_of_named_words) {
  EXPECT_EQ(redact_command({"train", "--api-key=abc", "--token", "t0p", "PASSWORD=x=y z"}),
            (Words{"train", "--api-key=***", "--token", "***", "PASSWORD=***"}));
  EXPECT_EQ(redact_command({"wandb.api_key=abc,def&g"}), (Words{"wandb.api_key=***"}));
  EXPECT_EQ(redact_command({"env", "AWS_SECRET_ACCESS_KEY=q", "python"}),
            (Words{"env", "AWS_SECRET_ACCESS_KEY=***", "python"}));
}

TEST(Redact, leaves_options_behind_a_switch) {
  EXPECT_EQ(redact_command({"--use-token", "--lr", "0.1"}), (Words{"--use-token", "--lr", "0.1"}));
  EXPECT_EQ(redact_command({"--token"}), (Words{"--token"}));
}

TEST(Redact, hides_credentials_in_urls) {
  EXPECT_EQ(redact_command({"s3://user:pa@ss@host/x"}), (Words{"s3://user:***@host/x"}));
  EXPECT_EQ(redact_command({"https://ghp_0123456789abcdef0123@github.com/a/b"}),
            (Words{"https://***@github.com/a/b"}));
  EXPECT_EQ(redact_command({"ssh://git@host/a", "http://host/a@b:c@d"}),
            (Words{"ssh://git@host/a", "http://host/a@b:c@d"}));
  EXPECT_EQ(redact_command({"http://h/x?a=1&token=abc&b=2"}),
            (Words{"http://h/x?a=1&token=***&b=2"}));
}

TEST(Redact, looks_into_text_for_a_shell) {
  EXPECT_EQ(redact_command({"sh", "-c", "API_KEY=abc python t.py --token xyz --lr 1"}),
            (Words{"sh", "-c", "API_KEY=*** python t.py --token *** --lr 1"}));
  EXPECT_EQ(redact_command({"export PASSWORD='a b' && go"}),
            (Words{"export PASSWORD='***' && go"}));
}

TEST(Redact, looks_into_json_and_headers) {
  EXPECT_EQ(redact_text(R"({"api_key": "abc", "lr": 1})"), R"({"api_key": "***", "lr": 1})");
  EXPECT_EQ(redact_text(R"({"api_key":"a,b","lr":1})"), R"({"api_key":"***","lr":1})");
  EXPECT_EQ(redact_text("X-Api-Key: abc"), "X-Api-Key: ***");
  EXPECT_EQ(redact_text("authorised by Bearer abc.def"), "authorised by Bearer ***");
}

TEST(Redact, hides_headers_without_a_blank) {
  EXPECT_EQ(
      redact_command({"curl", "-H", "PRIVATE-TOKEN:abc", "--header=Authorization:b", "h:8080"}),
      (Words{"curl", "-H", "PRIVATE-TOKEN:***", "--header=Authorization:***", "h:8080"}));
  EXPECT_EQ(redact_line("curl -H X-Api-Key:abc -H 'Accept:text' http://h/x"),
            "curl -H X-Api-Key:*** -H 'Accept:text' http://h/x");
  EXPECT_EQ(redact_command({"-H", "Authorization: Basic abc"}),
            (Words{"-H", "Authorization: ***"}));
}

TEST(Redact, hides_webhooks) {
  EXPECT_EQ(redact_command({"--slack", "https://hooks.slack.com/services/T0/B0/abc"}),
            (Words{"--slack", "https://hooks.slack.com/***"}));
  EXPECT_EQ(redact_text("done; curl 'https://discord.com/api/webhooks/1/abc' -d x"),
            "done; curl 'https://discord.com/api/webhooks/***' -d x");
  EXPECT_EQ(redact_text("https://api.telegram.org/bot1:abc/sendMessage"),
            "https://api.telegram.org/bot***");
  // Neither hides the other, whichever comes first.
  const std::string telegram = "https://api.telegram.org/bot1:abc/x";
  const std::string slack = "https://hooks.slack.com/services/T0/B0/abc";
  EXPECT_EQ(redact_text(telegram + "," + slack), "https://api.telegram.org/bot***");
  EXPECT_EQ(redact_text(slack + "," + telegram), "https://hooks.slack.com/***");
}

// The scheme before the secret must not be taken for the secret.
TEST(Redact, hides_all_of_a_header) {
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

TEST(Redact, hides_every_bearer) {
  EXPECT_EQ(redact_text("Bearer abc and bearer def, Bearer"), "Bearer *** and bearer *** Bearer");
  EXPECT_EQ(redact_text("f\"Bearer {t}\" Bearer\tx"), "f\"Bearer ***\" Bearer\t***");
}

TEST(Redact, leaves_what_only_sounds_secret) {
  const Words plain = {
      "--tokenizer",       "bert",       "--tokenizer=gpt2", "--max-new-tokens=512",
      "--max-tokens",      "512",        "--keypoints=17",   "token-server:8080",
      "/run/secrets/list", "--passes=3", "python",           "train.py"};
  EXPECT_EQ(redact_command(plain), plain);
}

struct Case {
  Words given, kept;
};

TEST(Redact, hides_secrets_in_commands) {
  const Case cases[] = {
      {{"--password", "-x"}, {"--password", "***"}},
      {{"--auth", "x"}, {"--auth", "***"}},
      {{"--auth=me:word"}, {"--auth=***"}},
      {{"--pwd", "x"}, {"--pwd", "***"}},
      {{"--pw=x"}, {"--pw=***"}},
      {{"--passphrase", "a b"}, {"--passphrase", "***"}},
      {{"curl", "-u", "user:x", "http://h/"}, {"curl", "-u", "user:***", "http://h/"}},
      {{"curl", "-uuser:x"}, {"curl", "-uuser:***"}},
      {{"curl", "--user=user:x"}, {"curl", "--user=user:***"}},
      {{"curl", "--proxy-user", "user:x"}, {"curl", "--proxy-user", "user:***"}},
      {{"sh", "-c", "curl -u user:x h && curl -u 'user:y' h"},
       {"sh", "-c", "curl -u user:*** h && curl -u 'user:***' h"}},
      {{"https://h/b?sv=1&sig=x%2F"}, {"https://h/b?sv=1&sig=***"}},
      {{"https://h/b?sig=x&se=2"}, {"https://h/b?sig=***&se=2"}},
      {{"https://s3/b?X-Amz-Credential=AK&X-Amz-Signature=x"},
       {"https://s3/b?X-Amz-Credential=***&X-Amz-Signature=***"}},
      {{"https://me:pa/ss@host/x"}, {"https://me:***@host/x"}},
      {{"https://me:pa?ss#x@host/x"}, {"https://me:***@host/x"}},
      {{"https://me:pa@x/ss@host/x"}, {"https://me:***@host/x"}},
      {{"git+https://me:word@github.com/a/b@v1"}, {"git+https://me:***@github.com/a/b@v1"}},
      {{"redis://:word@host:6379/0"}, {"redis://:***@host:6379/0"}},
      {{"postgresql://me:p%40ss%2F@db/x"}, {"postgresql://me:***@db/x"}},
      {{"http://h/?next=%2Fa%3Ftoken%3Dabc%26b%3D1"},
       {"http://h/?next=%2Fa%3Ftoken%3D***%26b%3D1"}},
      {{"API_KEY=x", "cmd"}, {"API_KEY=***", "cmd"}},
      {{"docker", "run", "-e", "WANDB_API_KEY=0123456789abcdef0123456789abcdef01234567"},
       {"docker", "run", "-e", "WANDB_API_KEY=***"}},
      {{"+trainer.apiKey=x"}, {"+trainer.apiKey=***"}},
      {{"--config={\"api_key\":\"x\",\"token\":12,\"lr\":1}"},
       {"--config={\"api_key\":\"***\",\"token\":***,\"lr\":1}"}},
      {{"{\\\"token\\\":\\\"x y\\\"}"}, {"{\\\"token\\\":\\\"***\\\"}"}},
      {{"[\"--token\", \"x\", \"--lr\", \"1\"]"}, {"[\"--token\", \"***\", \"--lr\", \"1\"]"}},
      {{"sshpass", "-p", "x", "ssh", "-p", "22", "h"},
       {"sshpass", "-p", "***", "ssh", "-p", "***", "h"}},
      {{"mysql", "-pword", "-P", "3306"}, {"mysql", "-p***", "-P", "3306"}},
      {{"PGPASSWORD=x", "psql"}, {"PGPASSWORD=***", "psql"}},
      {{"-H", "X-Auth-Token: x"}, {"-H", "X-Auth-Token: ***"}},
      {{"--hf-token", "abc"}, {"--hf-token", "***"}},
      {{"--access-key-id", "abc"}, {"--access-key-id", "***"}},
      {{"--api-key", "12345"}, {"--api-key", "***"}},
  };
  for (const Case& each : cases) EXPECT_EQ(redact_command(each.given), each.kept);
}

TEST(Redact, hides_tokens_by_their_shape) {
  const std::string letters = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9";
  for (const std::string prefix : {"hf_", "ghp_", "github_pat_", "glpat-", "sk-", "sk-proj-",
                                   "xoxb-", "AIza", "npm_", "nvapi-", "eyJ"}) {
    EXPECT_EQ(redact_command({"--x", prefix + letters, "y"}), (Words{"--x", "***", "y"})) << prefix;
    EXPECT_EQ(redact_text("a '" + prefix + letters + "', b"), "a '***', b") << prefix;
  }
  EXPECT_EQ(redact_text("id AKIAIOSFODNN7EXAMPLE"), "id ***");
  EXPECT_EQ(redact_command({"--x=hf_" + letters}), (Words{"--x=***"}));
}

TEST(Redact, hides_secrets_in_tags) {
  using Tags = std::map<std::string, std::string>;
  EXPECT_EQ(redact_tags({{"api_key", "x"}, {"lr", "0.1"}, {"url", "http://a:b@h"}}),
            (Tags{{"api_key", "***"}, {"lr", "0.1"}, {"url", "http://a:***@h"}}));
  EXPECT_EQ(redact_tags({{"max_tokens", "512"}}), (Tags{{"max_tokens", "512"}}));
}

TEST(Redact, leaves_innocent_commands) {
  const Words commands[] = {
      {"python", "-u", "train.py", "--lr", "1e-3"},
      {"--token-length", "512"},
      {"--token-length=512", "--num-tokens", "5", "--num_tokens=5", "--token-dropout-prob", "0.1"},
      {"--author", "x", "--authors=y", "--authority=z"},
      {"--tokenizer", "gpt2", "--tokenizer_name=bert", "--tokenizer-path", "/x", "tokenize=true"},
      {"model.num_key_value_heads=8", "--key-padding-mask", "true", "--key_dim=64"},
      {"--image-key", "jpg", "--text_key=caption", "--monitor-key", "val/loss"},
      {"--token-file", "/run/token", "--password-file=/run/p", "--key-path", "k.pem"},
      {"--auth-type", "basic"},
      {"docker", "run", "-u", "1000:1000", "-p", "8080:80", "img:tag@sha256:0123"},
      {"http://h:8080/pkg@1.2", "http://h/a?page=2&sort=up", "git@github.com:a/b"},
      {"--signature", "serving_default", "--sig-level=0.05"},
      {"--passes", "3", "--n-passes=2", "--compass=1", "--monkey", "x", "--bypass=all"},
      {"--use-token", "-v", "--no-auth", "-n", "5"},
      {"trainer.max_epochs=3", "+data.path=/x", "model=resnet50", "sk-learn-pipeline-of-the-lab"},
      {"sh", "-c", "python -u train.py --num-tokens 5 && echo done"},
  };
  for (const Words& plain : commands) EXPECT_EQ(redact_command(plain), plain);
}

TEST(Redact, hides_keys_of_services_that_name_data) {
  for (const std::string name :
       {"DATA_ACCESS_KEY", "DATASET_ENCRYPTION_KEY", "AZURE_TEXT_ANALYTICS_KEY", "AZURE_TEXT_KEY",
        "--primary-key", "--data-storage-key", "--image-api-key", "--text-private-key",
        "--input-signing-key", "--account-data-key", "--image-access-token"}) {
    EXPECT_EQ(redact_command({name + "=s3cr3t"}), (Words{name + "=***"}));
    EXPECT_EQ(redact_text("x " + name + "=s3cr3t y"), "x " + name + "=*** y");
  }
  EXPECT_EQ(redact_command({"--primary-key", "s3cr3t"}), (Words{"--primary-key", "***"}));
}

TEST(Redact, hides_passwords_of_users_and_programs) {
  const Case cases[] = {
      {{"curl", "--proxy-user=me:hunter2"}, {"curl", "--proxy-user=me:***"}},
      {{"curl", "-Ume:hunter2"}, {"curl", "-Ume:***"}},
      {{"curl", "-u", "admin:12345678"}, {"curl", "-u", "admin:***"}},
      {{"curl", "-uadmin:12345678"}, {"curl", "-uadmin:***"}},
      {{"curl", "--user=admin:1234"}, {"curl", "--user=admin:***"}},
      {{"docker", "login", "-p", "hunter2", "h"}, {"docker", "login", "-p", "***", "h"}},
      {{"/usr/bin/docker", "login", "-phunter2"}, {"/usr/bin/docker", "login", "-p***"}},
      {{"podman", "login", "-u", "me", "-p", "x"}, {"podman", "login", "-u", "me", "-p", "***"}},
      {{"--api-key", "--dashsecret"}, {"--api-key", "***"}},
      {{"--password", "--dash", "--lr", "1"}, {"--password", "***", "--lr", "1"}},
      {{"sh", "-c", "x --api-key --dash y"}, {"sh", "-c", "x --api-key *** y"}},
  };
  for (const Case& each : cases) EXPECT_EQ(redact_command(each.given), each.kept);
}

TEST(Redact, hides_keys_that_a_login_takes) {
  const std::string key = "0123456789abcdef0123456789abcdef01234567";
  EXPECT_EQ(redact_command({"wandb", "login", "--relogin", key}),
            (Words{"wandb", "login", "--relogin", "***"}));
  EXPECT_EQ(redact_command({"sh", "-c", "wandb login " + key + " && python t.py --commit " + key}),
            (Words{"sh", "-c", "wandb login *** && python t.py --commit " + key}));
  EXPECT_EQ(redact_command({"aws", "configure", "set", "aws_secret_access_key", "abc"}),
            (Words{"aws", "configure", "set", "aws_secret_access_key", "***"}));
}

TEST(Redact, hides_passwords_of_other_programs) {
  const Case cases[] = {
      {{"openssl", "enc", "-passin", "pass:x"}, {"openssl", "enc", "-passin", "***"}},
      {{"unzip", "-P", "x", "a.zip"}, {"unzip", "-P", "***", "a.zip"}},
      {{"7z", "x", "-px", "a.7z"}, {"7z", "x", "-p***", "a.7z"}},
      {{"mongosh", "-u", "me", "-p", "x"}, {"mongosh", "-u", "me", "-p", "***"}},
      {{"curl", "-b", "session=x"}, {"curl", "-b", "***"}},
      {{"--token:x", "--password:x", "h:8080"}, {"--token:***", "--password:***", "h:8080"}},
      {{"https://h/x;sig=y", "https://h/x?a=1&amp;sig=y"},
       {"https://h/x;sig=***", "https://h/x?a=1&amp;sig=***"}},
  };
  for (const Case& each : cases) EXPECT_EQ(redact_command(each.given), each.kept);
}

TEST(Redact, hides_passwords_in_addresses_without_a_scheme) {
  const Case cases[] = {
      {{"curl", "-x", "me:word@proxy:3128"}, {"curl", "-x", "me:***@proxy:3128"}},
      {{"--proxy=me:wo@rd@proxy.lab:80"}, {"--proxy=me:***@proxy.lab:80"}},
      {{"--db", "me:word@db.example.com/x"}, {"--db", "me:***@db.example.com/x"}},
      {{"sh", "-c", "t.py --db me:word@localhost"}, {"sh", "-c", "t.py --db me:***@localhost"}},
      {{"me:wo=rd@h.org", "me:word@10.0.0.1"}, {"me:***@h.org", "me:***@10.0.0.1"}},
  };
  for (const Case& each : cases) EXPECT_EQ(redact_command(each.given), each.kept);
  const Words plain = {"img:tag@sha256:0123", "git@github.com:a/b@v1", "pkg:npm/foo@1.2.3", "a:b@c",
                       "me@host.org:80",      "mailto:me@lab.org",     "h.org:/data@home"};
  EXPECT_EQ(redact_command(plain), plain);
}

TEST(Redact, hides_secrets_in_shell_lines) {
  const std::pair<std::string, std::string> lines[] = {
      {"sshpass -p hunter2 ssh h", "sshpass -p *** ssh h"},
      {"sshpass  -p 'hunter2 x'  ssh h", "sshpass  -p '***'  ssh h"},
      {"mysql -phunter2", "mysql -p***"},
      {"mysql -p'hunt er2' db", "mysql -p'***' db"},
      {"mysql '-phunter2' db", "mysql '-p***' db"},
      {"(cd /x;mysql -phunter2)|tee \"a b\"", "(cd /x;mysql -p***)|tee \"a b\""},
      {"echo \"$(mysql -phunter2 db)\" `mysql -phunter2`",
       "echo \"$(mysql -p*** db)\" `mysql -p***`"},
      {"sshpass \\\n  -p \\\n  hunter2 ssh h", "sshpass \\\n  -p \\\n  *** ssh h"},
      {"curl --user=me:hunter2 -ume:hunter2 h", "curl --user=me:*** -ume:*** h"},
      {"curl --proxy-user=me:hunter2 -u 'me:hun ter2' h", "curl --proxy-user=me:*** -u 'me:***' h"},
      {"docker login -p hunter2 && docker run -p 80:80 x",
       "docker login -p *** && docker run -p 80:80 x"},
      {"bash -lc \"mysql -phunter2 -P 3306\"", "bash -lc \"mysql -p*** -P 3306\""},
      {"docker run -e \"PASSWORD=ab hunter2\" img \"x y\"",
       "docker run -e \"PASSWORD=***\" img \"x y\""},
      {"sh -c 'PASSWORD=hunter2 python t.py'", "sh -c 'PASSWORD=*** python t.py'"},
      {"PASSWORD=ab\"cdhunter2\"ef x", "PASSWORD=*** x"},
      {"PASSWORD=ab\" hunter2\"ef x", "PASSWORD=*** x"},
      {"PASSWORD=\"ab\\\"hunter2\" x", "PASSWORD=\"***\" x"},
      {"PASSWORD=ab\\ hunter2 x", "PASSWORD=*** x"},
      {"PASSWORD='ab'\"hunter2\" x", "PASSWORD=*** x"},
      {"t.py --config '{\"api_key\": \"x\", \"lr\": 1}' a",
       "t.py --config '{\"api_key\": \"***\", \"lr\": 1}' a"},
      {"f({'api_key': 'abc', 'lr': 1})", "f({'api_key': '***', 'lr': 1})"},
      {"f(api_key=\"abc\", lr=1)", "f(api_key=\"***\", lr=1)"},
      {"it's -u me:hunter2 --token abc", "it's -u me:*** --token ***"},
  };
  for (const auto& [line, kept] : lines) {
    EXPECT_EQ(redact_command({"sh", "-c", line}), (Words{"sh", "-c", kept}));
    EXPECT_EQ(redact_line(line), kept);
  }
  EXPECT_EQ(redact_command({"ssh", "h", "mysql -phunter2"}), (Words{"ssh", "h", "mysql -p***"}));
}

TEST(Redact, hides_whole_values_in_text) {
  const std::pair<std::string, std::string> texts[] = {
      {"PASSWORD=ab\"cd hunter2\"ef x", "PASSWORD=*** x"},
      {"PASSWORD=\"ab\\\"hunter2\" x", "PASSWORD=\"***\" x"},
      {"PASSWORD='a'hunter2 x", "PASSWORD=*** x"},
      {"PASSWORD=ab\\\"hunter2 x", "PASSWORD=*** x"},
      {"-e \"PASSWORD=ab\" img \"x\"", "-e \"PASSWORD=***\" img \"x\""},
      {"echo \"a PASSWORD=ab\" && echo \"b\"", "echo \"a PASSWORD=***\" && echo \"b\""},
      {"curl --user=me:hunter2 -ume:hunter2", "curl --user=me:*** -ume:***"},
      {"--api-key --dashsecret", "--api-key ***"},
      {"-e \"PASSWORD=ab\\\"hunter2\" x", "-e \"PASSWORD=***\" x"},
      {"\\\"PASSWORD=hunter2\\\" x", "\\\"PASSWORD=***\\\" x"},
      {"-H \"Cookie: a=\\\"hunter2\\\"; b\" x", "-H \"Cookie: ***\" x"},
      {"os.environ['API_KEY']='hunter2'; x = d[\"token\"] + 1",
       "os.environ['API_KEY']='***'; x = d[\"token\"] + 1"},
  };
  for (const auto& [text, kept] : texts) EXPECT_EQ(redact_text(text), kept);
}

TEST(Redact, leaves_innocent_names) {
  const Words commands[] = {
      {"--pad-token", "X", "--eos_token=</s>", "--bos-token", "<s>", "pad_token_id=50256"},
      {"--key-frames", "3", "--key-frames=a", "--key-points", "x"},
      {"--pass", "2", "-pass", "1", "--pass=2"},
      {"--auth-mode", "x", "--auth-method=oidc", "--auth-provider", "github"},
      {"--api-key", "--host=db"},
      {"--token", "--lr", "1"},
      {"--dataset-key", "train", "data.key=x", "--sort-keys=a"},
      {"sh", "-c", "docker run -u 1000:1000 -p 8080:80 img -u $(id -u):$(id -g) 'x  y' \"z\""},
      {"sh", "-c", "for i in 1 2; do ssh -p 22 h \"echo $i\" > \"a b\" 2>&1; done # don't"},
      {"python", "-c", "print('a  b', \"c\")\nx = {'a': 1}\n"},
  };
  for (const Words& plain : commands) EXPECT_EQ(redact_command(plain), plain);
}

// A hostile command line must not take long.
TEST(Redact, takes_long_text_in_its_stride) {
  std::string bearers, quotes;
  for (int i = 0; i < 20'000; ++i) bearers += "bearer token=\" http://";
  for (int i = 0; i < 20'000; ++i) quotes += "token=\"";
  EXPECT_FALSE(redact_text(bearers).empty());
  EXPECT_FALSE(redact_text(quotes).empty());
  for (const std::string part : {"://", "a:b://c@", " -u a:b", "token=x%26", "-----", "Bearer "}) {
    std::string all;
    while (all.size() < 200'000) all += part;
    EXPECT_FALSE(redact_text(all).empty());
    EXPECT_FALSE(redact_line(all).empty());
  }
  for (const std::string part : {"'", "\"' ", "\\\"", "token='\\", "sh -c \"", "(;", "x=\"a\"'"}) {
    std::string all;
    while (all.size() < 50'000) all += part;
    EXPECT_FALSE(redact_text(all).empty());
    EXPECT_FALSE(redact_line(all).empty());
  }
}

TEST(Redact, when_in_doubt_it_goes) {
  EXPECT_EQ(redact_command({"--tokens=abc"}), (Words{"--tokens=***"}));
  EXPECT_EQ(redact_command({"--pass", "1234"}), (Words{"--pass", "***"}));
  EXPECT_EQ(redact_text("--password=\"unclosed x"), "--password=***");
}

}  // namespace redact_test
}  // namespace trainscope
