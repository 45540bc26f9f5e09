ts_static_check(format 60 scripts/check-format)
ts_static_check(layering 60 scripts/check-layering)
ts_static_check(layering_self_test 60 scripts/check-layering --self-test)
