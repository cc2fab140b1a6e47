// Random programs over slices: the edges must be the transitive reduction of all conflicts, which
// are found here element by element from what the generator wrote.
#include "unit/text_compilation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <random>
#include <set>

namespace cgc {
namespace {

using testing::TextCompilation;

constexpr std::size_t most_nodes = 32;
using NodeSet = std::bitset<most_nodes>;
using Elements = std::set<std::pair<char, int>>;

struct Access {
  std::string text;
  int count = 0; ///< of elements, in units of the buffer
  Elements elements;
};

/// Writes statements and notes what each touches. Buffer `u` counts in units of a parameter.
class Generator {
public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::string program(std::size_t statements) {
    std::string text = R"(param n: i32 = 3;
device a, b: f32[12];
device c: f32[3, 4];
device d: f32[2, 3, 2];
device u: f32[8 * n];
device v: f32[8, n];
kernel rw(k: i64, m: i64, x: in f32[k], y: inout f32[m]) grid(1) block(1) cuda { }
kernel ro(k: i64, m: i64, x: in f32[k], y: in f32[m]) grid(1) block(1) cuda { }
kernel w(m: i64, y: out f32[m]) grid(1) block(1) cuda { }
graph main {
)";
    for (std::size_t i = 0; i < statements; ++i) {
      text += "  L" + std::to_string(i) + ": " + statement(i) + "\n";
    }
    return text + "}\n";
  }

  std::vector<Elements> reads, writes;
  std::vector<std::vector<std::size_t>> after;

private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }

  struct Span {
    int begin, end;
    std::string text;
  };

  /// A range of `extent` units, not empty; `unit` is "" or what a number is to be multiplied with.
  Span span(int extent, const std::string &unit = {}) {
    const int begin = below(extent);
    const int end = begin + 1 + below(extent - begin);
    const auto bound = [&](int value) {
      return unit.empty()    ? std::to_string(value)
             : below(2) == 0 ? std::to_string(value) + " * " + unit
                             : "(" + std::to_string(value + 1) + " - 1) * " + unit;
    };
    if (unit.empty() && end == begin + 1 && below(2) == 0) {
      return {begin, end, std::to_string(begin)};
    }
    if (below(6) == 0) {
      return {0, extent, ":"};
    }
    return {begin, end, bound(begin) + ":" + bound(end)};
  }

  Access linear(char buffer, int extent, const std::string &unit = {}) {
    const Span part = span(extent, unit);
    Access access = {std::string(1, buffer) + "[" + part.text + "]", part.end - part.begin, {}};
    for (int i = part.begin; i < part.end; ++i) {
      access.elements.emplace(buffer, i);
    }
    return access;
  }

  /// Rows of `v` are whole, so that they lie side by side.
  Access contiguous(const std::string &buffers) {
    const char buffer = buffers[static_cast<std::size_t>(below(static_cast<int>(buffers.size())))];
    switch (buffer) {
    case 'u':
      return linear('u', 8, "n");
    case 'v':
      return linear('v', 8);
    default:
      return linear(buffer, 12);
    }
  }

  Access box() {
    if (below(2) == 0) {
      const Span row = span(3);
      const Span column = span(4);
      Access access = {"c[" + row.text + ", " + column.text + "]", 0, {}};
      for (int i = row.begin; i < row.end; ++i) {
        for (int j = column.begin; j < column.end; ++j) {
          access.elements.emplace('c', 4 * i + j);
        }
      }
      return access;
    }
    const Span x = span(2);
    const Span y = span(3);
    const Span z = span(2);
    // A second subscript begins with the first dimension that the first one keeps.
    const auto kept = [](const Span &span) {
      return span.text.find(':') != std::string::npos ? ":, " : std::string();
    };
    Access access = {
        "d[" + x.text + ", " + y.text + "][" + kept(x) + kept(y) + z.text + "]", 0, {}};
    for (int i = x.begin; i < x.end; ++i) {
      for (int j = y.begin; j < y.end; ++j) {
        for (int k = z.begin; k < z.end; ++k) {
          access.elements.emplace('d', 6 * i + 2 * j + k);
        }
      }
    }
    return access;
  }

  static std::string length(const Access &access) {
    const bool symbolic = access.text[0] == 'u' || access.text[0] == 'v';
    return std::to_string(access.count) + (symbolic ? " * n" : "");
  }

  std::string statement(std::size_t index) {
    std::string text;
    Elements read;
    Elements written;
    const Access first = contiguous("abuv");
    Access second = contiguous("abuv");
    while (second.text[0] == first.text[0]) {
      second = contiguous("abuv");
    }
    constexpr int kinds = 5;
    switch (below(kinds)) {
    case 0:
      text = "rw(" + length(first) + ", " + length(second) + ", " + first.text + ", " +
             second.text + ")";
      read = first.elements;
      read.insert(second.elements.begin(), second.elements.end());
      written = second.elements;
      break;
    case 1:
      text = "ro(" + length(first) + ", " + length(second) + ", " + first.text + ", " +
             second.text + ")";
      read = first.elements;
      read.insert(second.elements.begin(), second.elements.end());
      break;
    case 2:
      text = "w(" + length(first) + ", " + first.text + ")";
      written = first.elements;
      break;
    case 3: {
      const Access target = below(2) == 0 ? first : box();
      text = "fill " + target.text + " <- 1";
      written = target.elements;
      break;
    }
    default: {
      const Span part = span(12);
      text = "copy a[" + part.text + "] <- b[" + part.text + "]";
      for (int i = part.begin; i < part.end; ++i) {
        read.emplace('b', i);
        written.emplace('a', i);
      }
    }
    }
    after.emplace_back();
    if (index > 0 && below(8) == 0) {
      after.back().push_back(static_cast<std::size_t>(below(static_cast<int>(index))));
      text += " after L" + std::to_string(after.back()[0]);
    }
    reads.push_back(std::move(read));
    writes.push_back(std::move(written));
    return text + ";";
  }

  std::mt19937 random_;
};

bool meet(const Elements &a, const Elements &b) {
  return std::any_of(a.begin(), a.end(), [&](const auto &element) { return b.contains(element); });
}

/// What each node must come after, directly or through others.
std::vector<NodeSet> wanted(const Generator &generator) {
  std::vector<NodeSet> ancestors(generator.reads.size());
  for (std::size_t i = 0; i < ancestors.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto &after = generator.after[i];
      if (meet(generator.writes[i], generator.writes[j]) ||
          meet(generator.writes[i], generator.reads[j]) ||
          meet(generator.reads[i], generator.writes[j]) ||
          std::find(after.begin(), after.end(), j) != after.end()) {
        ancestors[i] |= ancestors[j];
        ancestors[i].set(j);
      }
    }
  }
  return ancestors;
}

TEST(OrderBruteForce, EdgesAreTheReductionOfAllConflicts) {
  constexpr unsigned seeds = 400;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    Generator generator(seed);
    const std::string text = generator.program(12 + seed % 16);
    const TextCompilation compilation(text);
    ASSERT_EQ(compilation.errors(), "") << text;
    const auto &nodes = compilation.program().graphs.at(0).nodes;
    ASSERT_EQ(nodes.size(), generator.reads.size()) << text;
    std::vector<NodeSet> ancestors(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      NodeSet implied;
      for (const auto &dependency : nodes[i].dependencies) {
        implied |= ancestors[dependency.node.index];
      }
      ancestors[i] = implied;
      for (const auto &dependency : nodes[i].dependencies) {
        ASSERT_FALSE(implied.test(dependency.node.index))
            << "seed " << seed << ": L" << dependency.node.index << " -> L" << i << " is implied\n"
            << text;
        ancestors[i].set(dependency.node.index);
      }
    }
    const std::vector<NodeSet> expected = wanted(generator);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      ASSERT_EQ(ancestors[i], expected[i])
          << "seed " << seed << ": what comes before L" << i << "\n"
          << text;
    }
  }
}

} // namespace
} // namespace cgc
