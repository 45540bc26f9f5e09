ts_static_check(format 60 scripts/check-format)
ts_static_check(layering 60 scripts/check-layering)
ts_static_check(layering_self_test 60 scripts/check-layering --self-test)
ts_static_check(scripts 120 scripts/check-scripts)
ts_static_check(machines 60 scripts/pack-machine --check)
ts_static_check(docs 60 scripts/check-docs)
# The checked-in pages are what their sources build.
ts_static_check(web 180 scripts/build-web --check)
# Takes both cores by itself.
ts_static_check(tidy 1200 scripts/check-tidy)
set_tests_properties(static.tidy PROPERTIES PROCESSORS 2 COST 2000)
ts_static_check(docker 120 scripts/check-docker)
