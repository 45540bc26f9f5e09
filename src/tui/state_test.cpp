#include "tui/state.h"

#include <gtest/gtest.h>

#include "tui/plot.h"
#include "tui/time_axis.h"

namespace trainscope {

namespace state_test {

constexpr ViewBounds kHour = {3600, 60, 20};

Key typed(const char* text) { return {KeyKind::character, text}; }

TopState after(std::vector<Key> keys, const ViewBounds& bounds = kHour) {
  TopState state;
  for (const Key& key : keys) apply_key(state, key, bounds);
  return state;
}

TEST(TopState, a_live_run_is_followed_with_a_second_per_column) {
  TopState state;
  begin_view(state, true, kHour);
  EXPECT_TRUE(state.follows);
  EXPECT_EQ(state.column_s(), 1);
}

TEST(TopState, an_ended_run_is_shown_completely) {
  TopState state;
  begin_view(state, false, kHour);
  EXPECT_EQ(state.column_s(), 60);
  begin_view(state, false, {3661, 60, 1});
  EXPECT_EQ(state.column_s(), 90);
  const TimeWindows windows = windows_of(request_of(state, 60), 3661);
  EXPECT_EQ(windows.begin_s, 0);
  EXPECT_GE(windows.end_s(), 3661);
}

TEST(TopState, windows_that_follow_move_by_whole_windows) {
  TopState state;
  const ViewRequest request = request_of(state, 60);
  EXPECT_EQ(request.window_s, 0.5);
  const TimeWindows now = windows_of(request, 100.1), later = windows_of(request, 100.4);
  EXPECT_EQ(now.begin_s, later.begin_s);
  EXPECT_EQ(now.end_s(), 100.5);
  EXPECT_EQ(windows_of(request, 100.6).begin_s, now.begin_s + 0.5);
  EXPECT_EQ(windows_of(request, 3).begin_s, 0);
}

TEST(TopState, scrolling_back_freezes_and_scrolling_to_the_end_follows) {
  TopState state = after({{KeyKind::page_up}});
  EXPECT_FALSE(state.follows);
  EXPECT_NEAR(state.begin_s, 3600.5 - 120, 1e-9);
  apply_key(state, {KeyKind::left}, kHour);
  EXPECT_NEAR(state.begin_s, 3600.5 - 127.5, 1e-9);
  apply_key(state, {KeyKind::page_down}, kHour);
  EXPECT_FALSE(state.follows);
  apply_key(state, {KeyKind::page_down}, kHour);
  EXPECT_TRUE(state.follows);
}

TEST(TopState, home_and_end) {
  TopState state = after({{KeyKind::home}});
  EXPECT_FALSE(state.follows);
  EXPECT_EQ(state.begin_s, 0);
  apply_key(state, {KeyKind::left}, kHour);
  EXPECT_EQ(state.begin_s, 0);
  EXPECT_FALSE(state.follows);
  apply_key(state, {KeyKind::end}, kHour);
  EXPECT_TRUE(state.follows);
}

TEST(TopState, a_run_shorter_than_the_view_cannot_be_scrolled) {
  TopState state = after({{KeyKind::page_up}}, {10, 60, 1});
  EXPECT_EQ(state.begin_s, 0);
}

TEST(TopState, space_freezes_and_follows_again) {
  TopState state = after({typed(" ")});
  EXPECT_FALSE(state.follows);
  EXPECT_NEAR(state.begin_s, 3540.5, 1e-9);
  apply_key(state, typed(" "), kHour);
  EXPECT_TRUE(state.follows);
}

TEST(TopState, zoom_keeps_the_middle_of_a_frozen_view) {
  TopState state = after({typed(" ")});
  const double middle_s = state.begin_s + 30;
  apply_key(state, typed("+"), kHour);
  EXPECT_EQ(state.column_s(), 0.7);
  EXPECT_NEAR(state.begin_s + 21, middle_s, 1e-9);
  for (int i = 0; i < 50; ++i) apply_key(state, typed("-"), kHour);
  EXPECT_EQ(state.column_s(), 86400);
  EXPECT_EQ(state.begin_s, 0);
  apply_key(state, typed("0"), kHour);
  EXPECT_EQ(state.column_s(), 60);
}

TEST(TopState, a_whole_run_takes_more_than_half_of_the_screen) {
  for (int zoom = 1; zoom < kZoomStepCount; ++zoom) {
    EXPECT_LT(kZoomSteps[zoom], 2 * kZoomSteps[zoom - 1]);
  }
  EXPECT_EQ(kZoomSteps[kLiveZoom], 1);
}

TEST(TopState, a_filter_is_typed_and_removed) {
  TopState state = after({typed("/"), typed("g"), typed("µ"), {KeyKind::backspace}, typed("q")});
  EXPECT_FALSE(state.is_over);
  EXPECT_EQ(state.typed, "gq");
  EXPECT_EQ(state.filter, "");
  apply_key(state, {KeyKind::enter}, kHour);
  EXPECT_EQ(state.filter, "gq");
  EXPECT_FALSE(state.typed);
  apply_key(state, typed("/"), kHour);
  apply_key(state, typed("x"), kHour);
  apply_key(state, {KeyKind::escape}, kHour);
  EXPECT_EQ(state.filter, "gq");
  apply_key(state, {KeyKind::escape}, kHour);
  EXPECT_EQ(state.filter, "");
}

TEST(TopState, a_key_opens_a_panel_and_closes_it) {
  TopState state = after({{KeyKind::down}, typed("p")});
  EXPECT_EQ(state.panel, Panel::processes);
  EXPECT_EQ(state.first_row, 0);
  EXPECT_EQ(request_of(state, 10).panel, Panel::processes);
  EXPECT_EQ(processes_of(state), (ProcessRequest{true, ""}));
  apply_key(state, typed("t"), kHour);
  EXPECT_EQ(state.panel, Panel::threads);
  EXPECT_FALSE(processes_of(state).is_wanted);
  apply_key(state, typed("t"), kHour);
  EXPECT_EQ(state.panel, Panel::none);
  state = after({typed("p"), {KeyKind::tab}});
  EXPECT_EQ(state.panel, Panel::none);
  EXPECT_EQ(state.component, Component::training);
}

TEST(TopState, escape_removes_the_filter_of_a_panel_before_the_panel) {
  TopState state = after({typed("p"), typed("/"), typed("w"), {KeyKind::enter}});
  EXPECT_EQ(processes_of(state), (ProcessRequest{true, "w"}));
  apply_key(state, typed("?"), kHour);
  apply_key(state, {KeyKind::escape}, kHour);
  EXPECT_EQ(processes_of(state), (ProcessRequest{true, "w"}));
  apply_key(state, {KeyKind::escape}, kHour);
  EXPECT_EQ(processes_of(state), (ProcessRequest{true, ""}));
  apply_key(state, {KeyKind::escape}, kHour);
  EXPECT_EQ(state.panel, Panel::none);
}

TEST(TopState, tab_goes_through_all_components) {
  TopState state;
  for (int i = 1; i < kComponents; ++i) {
    apply_key(state, {KeyKind::tab}, kHour);
    EXPECT_EQ(static_cast<int>(state.component), i);
  }
  apply_key(state, {KeyKind::tab}, kHour);
  EXPECT_EQ(state.component, Component::overview);
  apply_key(state, {KeyKind::back_tab}, kHour);
  EXPECT_EQ(state.component, Component::job);
}

TEST(TopState, q_closes_the_help_first) {
  TopState state = after({typed("?"), typed("q")});
  EXPECT_FALSE(state.shows_help);
  EXPECT_FALSE(state.is_over);
  apply_key(state, typed("q"), kHour);
  EXPECT_TRUE(state.is_over);
}

TEST(TopState, rows_scroll_between_the_first_and_the_last) {
  TopState state = after({{KeyKind::up}});
  EXPECT_EQ(state.first_row, 0);
  for (int i = 0; i < 50; ++i) apply_key(state, {KeyKind::down}, kHour);
  EXPECT_EQ(state.first_row, 19);
}

TEST(TimeAxis, ticks_are_at_round_times) {
  const auto ticks = ticks_of({42, 1, 30});
  ASSERT_EQ(ticks.size(), 3U);
  EXPECT_EQ(ticks[0].column, 8);
  EXPECT_EQ(ticks[0].text, "0:50");
  EXPECT_EQ(ticks[1].text, "1:00");
  EXPECT_EQ(ticks[2].column, 28);
}

TEST(TimeAxis, texts_of_minutes_hours_and_days) {
  EXPECT_EQ(elapsed_text(59.9), "0:59");
  EXPECT_EQ(elapsed_text(3661), "1:01:01");
  EXPECT_EQ(elapsed_text(2 * 86400 + 3 * 3600), "2d 03:00");
}

}  // namespace state_test

}  // namespace trainscope
