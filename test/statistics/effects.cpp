// Prints what src/stats computes from numbers on standard input; calibration.py drives it.
//
// A line is one comparison, `KIND [QUANTILE]|A|B`: KIND is means, quantile or permutation; A and B
// are runs separated by `;`, and a run is numbers separated by spaces. For means and permutation a
// number may be MEAN:WEIGHT. The answer is one line: `a b ratio low high difference low high p
// effective_a effective_b between_runs values_needed repeats_needed
// p_of_many`, nan for a value that does not
// exist; the p-value alone for permutation; `nothing` if there is no answer. `adjust|P P…|` is
// answered by the adjusted p-values. Exit code 2: a line that cannot be read.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "stats/stats.h"

namespace trainscope {
namespace {

std::vector<std::string> divided(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Observed read_run(const std::string& text) {
  Observed run;
  const char* at = text.c_str();
  for (;;) {
    char* end = nullptr;
    const double value = std::strtod(at, &end);
    if (end == at) return run;
    run.means.push_back(value);
    at = end;
    if (*at == ':') {
      run.weights.push_back(std::strtod(at + 1, &end));
      at = end;
    }
  }
}

std::vector<Observed> read_side(const std::string& text) {
  std::vector<Observed> runs;
  for (const std::string& run : divided(text, ';')) runs.push_back(read_run(run));
  return runs;
}

std::vector<std::vector<double>> values_of(const std::vector<Observed>& runs) {
  std::vector<std::vector<double>> values;
  for (const Observed& run : runs) values.push_back(run.means);
  return values;
}

void print(const std::optional<Effect>& effect) {
  if (!effect) {
    std::puts("nothing");
    return;
  }
  for (const double value :
       {effect->a, effect->b, effect->ratio, effect->ratio_low, effect->ratio_high,
        effect->difference, effect->difference_low, effect->difference_high, effect->p,
        effect->effective_a, effect->effective_b, effect->between_runs ? 1.0 : 0.0,
        effect->values_needed.value_or(NAN), effect->repeats_needed.value_or(NAN),
        effect->p_of_many})
    std::printf("%.12g ", value);
  std::puts("");
}

bool answer(const std::string& line) {
  const std::vector<std::string> parts = divided(line, '|');
  if (parts.size() != 3) return false;
  const std::vector<Observed> a = read_side(parts[1]), b = read_side(parts[2]);
  const std::vector<std::string> kind = divided(parts[0], ' ');
  if (kind[0] == "means") {
    print(compare_means(a, b));
  } else if (kind[0] == "quantile" && kind.size() == 2) {
    print(compare_quantiles(values_of(a), values_of(b), std::strtod(kind[1].c_str(), nullptr)));
  } else if (kind[0] == "permutation") {
    const std::optional<double> p = permutation_p(a, b);
    if (p) {
      std::printf("%.12g\n", *p);
    } else {
      std::puts("nothing");
    }
  } else if (kind[0] == "adjust") {
    for (const double p : adjust(a.front().means)) std::printf("%.12g ", p);
    std::puts("");
  } else {
    return false;
  }
  return true;
}

}  // namespace
}  // namespace trainscope

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);)
    if (!trainscope::answer(line)) return 2;
  return 0;
}
