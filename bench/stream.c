// The triad of STREAM, written anew: the best bandwidth of some passes over three arrays, in bytes per second.
//
//   stream BYTES_PER_ARRAY SECONDS
//
// Compiled by limits.py as people compile STREAM: gcc -O3 -march=native -fopenmp. Counted as STREAM counts: 24 bytes per
// element.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const long count = atol(argv[1]) / (long)sizeof(double);
  const double seconds = atof(argv[2]);
  double* restrict a = malloc((size_t)count * sizeof *a);
  double* restrict b = malloc((size_t)count * sizeof *b);
  double* restrict c = malloc((size_t)count * sizeof *c);
  if (count <= 0 || !a || !b || !c) return 1;
#pragma omp parallel for schedule(static)
  for (long i = 0; i < count; ++i) {
    a[i] = 0;
    b[i] = 1;
    c[i] = 2;
  }
  double best = 1e9;
  for (double end = now() + seconds; now() < end;) {
    const double begin = now();
#pragma omp parallel for schedule(static)
    for (long i = 0; i < count; ++i) a[i] = b[i] + 3 * c[i];
    const double pass = now() - begin;
    if (pass < best) best = pass;
  }
  if (a[count / 2] != 7) return 1;
  printf("%.0f\n", 24.0 * (double)count / best);
  return 0;
}
