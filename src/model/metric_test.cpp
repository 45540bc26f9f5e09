#include "model/metric.h"

#include <gtest/gtest.h>

namespace trainscope {
namespace metric_test {

TEST(Metric, kinds_are_found_by_their_names) {
  for (const Kind kind : {Kind::gauge, Kind::counter, Kind::state}) {
    EXPECT_EQ(kind_from_name(kind_name(kind)), kind);
  }
  EXPECT_EQ(kind_name(Kind::counter), "counter");
  EXPECT_FALSE(kind_from_name("Counter"));
  EXPECT_FALSE(kind_from_name(""));
}

TEST(Metric, statuses_have_the_names_of_the_contract) {
  EXPECT_EQ(status_name(SeriesStatus::ok), "ok");
  EXPECT_EQ(status_name(SeriesStatus::absent), "absent");
  EXPECT_EQ(status_name(SeriesStatus::stale), "stale");
}

TEST(Metric, labels_are_read_back_from_their_text) {
  const Labels labels = {{"cpu", "all"}, {"state", "user"}};
  EXPECT_EQ(labels_text(labels), "cpu=all;state=user");
  EXPECT_EQ(labels_from_text("cpu=all;state=user"), labels);
  EXPECT_EQ(labels_text({}), "");
  EXPECT_EQ(labels_from_text(""), Labels());
  EXPECT_EQ(labels_from_text("a=b=c;d;e="), (Labels{{"a", "b=c"}, {"e", ""}}));
}

TEST(Metric, a_series_has_one_text) {
  Series series;
  series.metric = "system.cpu.time";
  EXPECT_EQ(series_text(series), "system.cpu.time");
  series.labels = {{"cpu", "0"}, {"state", "idle"}};
  EXPECT_EQ(series_text(series), "system.cpu.time{cpu=0;state=idle}");
}

TEST(Metric, a_scale_is_a_fraction) {
  EXPECT_DOUBLE_EQ((Scale{1, 100}).apply(250), 2.5);
  EXPECT_DOUBLE_EQ((Scale{1024, 1}).apply(3), 3072);
}

TEST(Metric, a_main_metric_has_a_place_in_info) {
  MetricSpec spec{"a", "1", Kind::gauge, "", ""};
  EXPECT_FALSE(spec.is_main());
  EXPECT_FALSE(spec.is_derived());
  spec.info = in_info(301).unless_idle().only("cpu", "all");
  spec.formula = "1 - idle";
  EXPECT_TRUE(spec.is_main());
  EXPECT_TRUE(spec.is_derived());
  EXPECT_TRUE(spec.info.skips_idle);
  EXPECT_EQ(spec.info.label_value, "all");
}

}  // namespace metric_test
}  // namespace trainscope
