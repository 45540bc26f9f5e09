// The headers of ts_precompiled need a source to be compiled with.
