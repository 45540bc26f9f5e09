#include "training/report.h"

#include <gtest/gtest.h>

#include <cmath>

namespace trainscope {
namespace training_report_test {

TEST(Progress, reads_a_step_with_its_numbers) {
  const auto report = parse_report("step 5 loss=0.25 accuracy=0.5 t=123456789");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->kind, Report::Kind::step);
  EXPECT_EQ(report->number, 5);
  EXPECT_EQ(report->find("loss"), 0.25);
  EXPECT_EQ(report->find("accuracy"), 0.5);
  EXPECT_EQ(report->time_ns, 123456789);
  EXPECT_FALSE(report->find("learning_rate"));
}

TEST(Progress, reads_what_has_no_number) {
  const auto step = parse_report("step");
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->number);
  const auto epoch = parse_report("epoch val_accuracy=0.9");
  ASSERT_TRUE(epoch);
  EXPECT_FALSE(epoch->number);
  EXPECT_EQ(epoch->find("val_accuracy"), 0.9);
}

TEST(Progress, reads_phases_scalars_and_marks) {
  EXPECT_EQ(parse_report("begin input")->name, "input");
  EXPECT_EQ(parse_report("end checkpoint who=rank1")->who, "rank1");
  EXPECT_EQ(parse_report("phase input 0.0034")->value, 0.0034);
  EXPECT_EQ(parse_report("scalar lr 1e-4 set=train")->value, 1e-4);
  EXPECT_EQ(parse_report("batch 64")->number, 64);
  EXPECT_EQ(parse_report("dropped 7")->number, 7);
  const auto mark = parse_report("mark t=5 learning rate lowered: lr=0.1");
  EXPECT_EQ(mark->name, "learning rate lowered: lr=0.1");
  EXPECT_EQ(mark->time_ns, 5);
  const auto behind = parse_report("mark at half who= t=x way t=7 who=rank1");
  EXPECT_EQ(behind->name, "at half who= t=x way");
  EXPECT_EQ(behind->time_ns, 7);
  EXPECT_EQ(behind->who, "rank1");
}

TEST(Progress, a_loss_may_be_no_number_at_all) {
  EXPECT_TRUE(std::isnan(parse_report("step 1 loss=nan")->find("loss").value()));
  EXPECT_TRUE(std::isinf(parse_report("step 1 loss=inf")->find("loss").value()));
}

TEST(Progress, words_for_a_set_mean_one_set) {
  for (const char* word : {"val", "valid", "validation", "eval", "evaluation", "Val"}) {
    EXPECT_EQ(parse_report(std::string("step 1 set=") + word)->set, "validation") << word;
  }
  EXPECT_EQ(parse_report("step 1 set=training")->set, "train");
  EXPECT_EQ(parse_report("step 1 set=test")->set, "test");
  EXPECT_EQ(parse_report("step 1 set=Holdout")->set, "Holdout") << "the job's own word";
  EXPECT_EQ(parse_report("step 1 who=val")->who, "val");
  EXPECT_FALSE(parse_report("step 1 set=train")->is_of_other_set());
  EXPECT_TRUE(parse_report("step 1 set=val")->is_of_other_set());
}

TEST(Progress, a_prefix_names_the_set_of_a_number) {
  for (const char* name : {"val_loss", "valid_loss", "validation_loss", "eval_loss"}) {
    EXPECT_EQ(without_set_prefix(name).name, "loss") << name;
    EXPECT_EQ(without_set_prefix(name).set, "validation") << name;
  }
  EXPECT_EQ(without_set_prefix("test_top5_accuracy").name, "top5_accuracy");
  EXPECT_EQ(without_set_prefix("test_top5_accuracy").set, "test");
  for (const char* name : {"loss", "train_loss", "val_", "_loss", "value_loss", "val"}) {
    EXPECT_EQ(without_set_prefix(name).name, name);
    EXPECT_EQ(without_set_prefix(name).set, "") << name;
  }
}

TEST(Progress, refuses_what_is_not_of_the_grammar) {
  for (const char* line : {"",
                           "  ",
                           "stop 5",
                           "step five",
                           "step 5 loss",
                           "step 5 loss=",
                           "step -1",
                           "step 5 loss=a",
                           "begin",
                           "begin in put",
                           "phase input",
                           "phase input -1",
                           "phase input nan",
                           "batch",
                           "scalar x",
                           "mark",
                           "mark t=1",
                           "dropped",
                           "step 1 t=now",
                           "step 1 who=",
                           "step\t5",
                           "step 99999999999999999999",
                           "step 1 a b=1"}) {
    EXPECT_FALSE(parse_report(line)) << line;
  }
  EXPECT_FALSE(parse_report("begin " + std::string(200, 'x')));
}

TEST(Progress, writes_what_it_reads) {
  for (const char* line :
       {"step", "step 5", "step 5 loss=0.25 t=1 who=w set=validation", "epoch 3 val_loss=1.5",
        "begin input", "end input t=9", "phase input 0.125", "batch 32", "scalar lr 0.001",
        "mark t=5 a text = with words", "dropped 12", "step 7 epoch=2 of=100"}) {
    const auto report = parse_report(line);
    ASSERT_TRUE(report) << line;
    EXPECT_EQ(format_report(*report), line);
  }
}

}  // namespace training_report_test
}  // namespace trainscope
