// What the threads of a warp and of a block tell each other: shuffles, votes, matches, reductions.
#include "device_under_test.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

namespace conformance {

using testing::Each;

/// 80 threads: two warps and half of one, in a shape whose rows are no divisors of a warp.
constexpr Dim3 shape = {5, 4, 4};
constexpr std::int64_t threads = 80;

class WarpTest : public KernelsUnderTest {
protected:
  /// Runs one block of 80 threads of a kernel that finds its linear index in `i`, its lane in
  /// `lane`, and puts its results into o[0], o[n], o[2 * n], …
  std::vector<std::int64_t> run(const std::string &body, std::size_t results) {
    const Kernels kernels = load(
        {{"kernel",
          {output("out", ScalarType::I64)},
          "const int n = 80;\n"
          "const int i = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
          "const int lane = i % 32;\n"
          "long long *o = out + i;\n" +
              body}});
    const Array<std::int64_t> out(device(), std::vector<std::int64_t>(results * threads, -99));
    const auto graph = device().create_graph();
    add(*graph, cgrt::KernelParams{&kernels[0], {}, shape, 0, {out.slot()}});
    run_once(*graph);
    return out.read();
  }

  using Expected = std::function<std::int64_t(std::int64_t thread)>;
  /// As run(); the results of each thread are those of the functions, in their order.
  void expect(const std::string &body, const std::vector<Expected> &expected) {
    const std::vector<std::int64_t> out = run(body, expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k) {
      for (std::int64_t i = 0; i < threads; ++i) {
        EXPECT_EQ(out[k * threads + static_cast<std::size_t>(i)], expected[k](i))
            << "result " << k << " of thread " << i;
      }
    }
  }
};
CONFORMANCE_SUITE(WarpTest);

/// Combines over the threads of thread i's warp that `member` holds for.
std::int64_t over_warp(std::int64_t i, const std::function<bool(std::int64_t)> &member,
                       std::int64_t start,
                       const std::function<std::int64_t(std::int64_t, std::int64_t)> &combine) {
  const std::int64_t first = i / 32 * 32;
  std::int64_t result = start;
  for (std::int64_t j = first; j < std::min(first + 32, threads); ++j) {
    result = member(j) ? combine(result, j) : result;
  }
  return result;
}

/// The lanes of thread i's warp that `member` holds for.
std::int64_t lanes(std::int64_t i, const std::function<bool(std::int64_t)> &member) {
  return over_warp(i, member, 0, [](std::int64_t bits, std::int64_t j) {
    return bits | std::int64_t{1} << j % 32;
  });
}

bool everyone(std::int64_t /*thread*/) {
  return true;
}

TEST_P(WarpTest, ShufflesTakeTheirSource) {
  expect("o[0] = __shfl_sync(~0u, 100 + i, 3);\n"
         "o[n] = __shfl_sync(~0u, 100 + i, (lane + 5) % 16);\n"
         "o[2 * n] = __shfl_up_sync(~0u, 100 + i, 3);\n"
         "o[3 * n] = __shfl_down_sync(~0u, 100 + i, 1, 16);\n"
         "o[4 * n] = __shfl_xor_sync(~0u, 100 + i, 5);",
         {[](std::int64_t i) { return 100 + i / 32 * 32 + 3; },
          [](std::int64_t i) { return 100 + i / 32 * 32 + (i % 32 + 5) % 16; },
          [](std::int64_t i) { return 100 + (i % 32 < 3 ? i : i - 3); },
          [](std::int64_t i) { return 100 + (i % 16 == 15 ? i : i + 1); },
          [](std::int64_t i) { return 100 + (i ^ 5); }});
}

TEST_P(WarpTest, ShufflesStayInSegmentsOfTheirWidth) {
  expect("o[0] = __shfl_sync(~0u, i, 6, 8);\n"
         "o[n] = __shfl_sync(~0u, i, 13, 4);\n" // 13 modulo 4
         "o[2 * n] = __shfl_up_sync(~0u, i, 2, 8);\n"
         "o[3 * n] = __shfl_down_sync(~0u, i, 3, 8);\n"
         "o[4 * n] = __shfl_xor_sync(~0u, i, 3, 4);\n"
         // To an earlier segment, but not to a later one.
         "o[5 * n] = __shfl_xor_sync(~0u, i, 4, 4);\n"
         "o[6 * n] = __shfl_sync(~0u, i, 0, 1);",
         {[](std::int64_t i) { return i / 8 * 8 + 6; },
          [](std::int64_t i) { return i / 4 * 4 + 1; },
          [](std::int64_t i) { return i % 8 < 2 ? i : i - 2; },
          [](std::int64_t i) { return i % 8 + 3 > 7 ? i : i + 3; },
          [](std::int64_t i) { return i / 4 * 4 + (3 - i % 4); },
          [](std::int64_t i) { return i / 4 % 2 == 1 ? i - 4 : i; },
          [](std::int64_t i) { return i; }});
}

TEST_P(WarpTest, ShufflesTakeEveryType) {
  expect("const unsigned all = ~0u;\n"
         "o[0] = __shfl_xor_sync(all, -1 - i, 1);\n"
         "o[n] = __shfl_xor_sync(all, 0xFFFFFF00u + i, 1);\n"
         "o[2 * n] = __shfl_xor_sync(all, -(1ll << 40) - i, 1);\n"
         "o[3 * n] = (long long)__shfl_xor_sync(all, (1ull << 63) + i, 1);\n"
         "o[4 * n] = (long long)(8 * __shfl_xor_sync(all, i + 0.125f, 1));\n"
         "o[5 * n] = (long long)(8 * __shfl_xor_sync(all, (1ll << 45) + i + 0.125, 1));\n"
         "o[6 * n] = (long long)(float)__shfl_xor_sync(all, __half(float(i)), 1);\n"
         "o[7 * n] = (long long)(float)__shfl_xor_sync(all, __nv_bfloat16(float(i)), 1);\n"
         "const __half2 h = __shfl_xor_sync(all, __floats2half2_rn(i, -i), 1);\n"
         "o[8 * n] = (long long)(1000 * __low2float(h) + __high2float(h));\n"
         "const __nv_bfloat162 b = __shfl_xor_sync(all, __floats2bfloat162_rn(i, -i), 1);\n"
         "o[9 * n] = (long long)(1000 * __low2float(b) + __high2float(b));\n"
         "o[10 * n] = __shfl_up_sync(all, (long)i << 33, 0);\n"
         "o[11 * n] = (long long)__shfl_down_sync(all, (unsigned long)i << 33, 0);",
         {[](std::int64_t i) { return -1 - (i ^ 1); },
          [](std::int64_t i) { return 0xFFFFFF00 + (i ^ 1); },
          [](std::int64_t i) { return -(std::int64_t{1} << 40) - (i ^ 1); },
          [](std::int64_t i) { return std::numeric_limits<std::int64_t>::min() + (i ^ 1); },
          [](std::int64_t i) { return 8 * (i ^ 1) + 1; },
          [](std::int64_t i) { return 8 * ((std::int64_t{1} << 45) + (i ^ 1)) + 1; },
          [](std::int64_t i) { return i ^ 1; }, [](std::int64_t i) { return i ^ 1; },
          [](std::int64_t i) { return 999 * (i ^ 1); },
          [](std::int64_t i) { return 999 * (i ^ 1); }, [](std::int64_t i) { return i << 33; },
          [](std::int64_t i) { return i << 33; }});
}

TEST_P(WarpTest, DivergedHalvesShuffleByThemselves) {
  expect(
      "int v = i;\n"
      "if (lane < 16) {\n"
      "  v = __shfl_xor_sync(0x0000FFFFu, v, 1);\n"
      "  v = __shfl_xor_sync(0x0000FFFFu, v, 2);\n"
      "} else {\n"
      "  v = __shfl_down_sync(0xFFFF0000u, v, 4, 16);\n"
      "}\n"
      "__syncwarp();\n"
      "o[0] = v;\n"
      // Interleaved, and with different numbers of rounds.
      "int sum = 0;\n"
      "if (lane % 2) for (int k = 0; k < 3; ++k) sum += __shfl_sync(0xAAAAAAAAu, i, 2 * k + 1);\n"
      "else for (int k = 0; k < 5; ++k) sum += __shfl_sync(0x55555555u, i, 2 * k);\n"
      "o[n] = sum + 1000 * __shfl_sync(~0u, i, 1);",
      {[](std::int64_t i) { return i % 32 < 16   ? i ^ 3
                                   : i % 16 < 12 ? i + 4
                                                 : i; },
       [](std::int64_t i) {
         const std::int64_t first = i / 32 * 32;
         const std::int64_t sum = i % 2 == 1 ? 3 * first + 9 : 5 * first + 20;
         return sum + 1000 * (first + 1);
       }});
}

TEST_P(WarpTest, VotesSeeTheThreadsOfTheirMask) {
  expect("o[0] = __ballot_sync(~0u, i % 3 == 0);\n"
         "o[n] = __any_sync(~0u, i == 40) * 2 + __any_sync(~0u, 0);\n"
         "o[2 * n] = __all_sync(~0u, i < 64) * 2 + __all_sync(~0u, 7);\n"
         "o[3 * n] = 0;\n"
         "if (lane >= 4 && lane < 12) o[3 * n] = __ballot_sync(0x0FF0u, lane != 5);",
         {[](std::int64_t i) { return lanes(i, [](std::int64_t j) { return j % 3 == 0; }); },
          [](std::int64_t i) { return i / 32 == 1 ? 2 : 0; },
          [](std::int64_t i) { return i < 64 ? 3 : 1; },
          [](std::int64_t i) { return i % 32 >= 4 && i % 32 < 12 ? 0x0FD0 : 0; }});
}

TEST_P(WarpTest, ThreadsThatReturnedTakeNoPart) {
  expect("o[0] = o[n] = -1;\n"
         "if (i % 3 == 1) return;\n"
         "o[0] = __ballot_sync(~0u, 1);\n"
         "__syncwarp();\n"
         "if (i >= 32 && i < 64) return;\n"
         "o[n] = __syncthreads_count(i % 2);",
         {[](std::int64_t i) {
            return i % 3 == 1 ? -1 : lanes(i, [](std::int64_t j) { return j % 3 != 1; });
          },
          [](std::int64_t i) {
            std::int64_t count = 0;
            for (std::int64_t j = 0; j < threads; ++j) {
              count += j % 3 != 1 && j / 32 != 1 && j % 2 == 1 ? 1 : 0;
            }
            return i % 3 == 1 || i / 32 == 1 ? -1 : count;
          }});
}

TEST_P(WarpTest, MatchesFindEqualValues) {
  const auto alike = [](std::int64_t i) {
    return lanes(i, [i](std::int64_t j) { return j % 5 == i % 5; });
  };
  expect("const unsigned mine = i / 32 == 2 ? 0xFFFFu : ~0u;\n"
         "o[0] = __match_any_sync(mine, i % 5);\n"
         "o[n] = __match_any_sync(mine, ((unsigned long long)(i % 5)) << 40);\n"
         "o[2 * n] = __match_any_sync(mine, i % 5 + 0.5f);\n"
         "o[3 * n] = __match_any_sync(mine, i % 5 + 0.5);\n"
         "int predicate = -1;\n"
         "o[4 * n] = __match_all_sync(mine, i / 32, &predicate);\n"
         "o[5 * n] = predicate != 0;\n"
         "o[6 * n] = __match_all_sync(mine, (long long)(i == 40) << 40, &predicate);\n"
         "o[7 * n] = predicate != 0;",
         {alike, alike, alike, alike, [](std::int64_t i) { return lanes(i, everyone); },
          [](std::int64_t) { return 1; },
          [](std::int64_t i) { return i / 32 == 1 ? 0 : lanes(i, everyone); },
          [](std::int64_t i) { return i / 32 == 1 ? 0 : 1; }});
}

TEST_P(WarpTest, Reductions) {
  const auto reduced = [](std::int64_t start, auto combine) {
    return [=](std::int64_t i) { return over_warp(i, everyone, start, combine); };
  };
  using I = std::int64_t;
  expect("const unsigned mine = i / 32 == 2 ? 0xFFFFu : ~0u;\n"
         "o[0] = __reduce_add_sync(mine, 3 - i);\n"
         "o[n] = __reduce_add_sync(mine, 0x10000000u);\n" // wraps
         "o[2 * n] = __reduce_min_sync(mine, 3 - i);\n"
         "o[3 * n] = __reduce_min_sync(mine, 3u - i);\n"
         "o[4 * n] = __reduce_max_sync(mine, 40 - i);\n"
         "o[5 * n] = __reduce_max_sync(mine, 40u - i);\n"
         "o[6 * n] = __reduce_and_sync(mine, 0xF0u | i);\n"
         "o[7 * n] = __reduce_or_sync(mine, 5u * i);\n"
         "o[8 * n] = __reduce_xor_sync(mine, 0x01010101u * i);\n"
         "o[9 * n] = lane == 7 || lane == 9 ? __reduce_add_sync(0x280u, i) : -1;",
         {reduced(0, [](I sum, I j) { return sum + 3 - j; }),
          reduced(0, [](I sum, I) { return (sum + 0x10000000) % (I{1} << 32); }),
          reduced(1000, [](I least, I j) { return std::min(least, 3 - j); }),
          reduced(I{1} << 40, [](I least, I j) { return std::min(least, (3 - j) & 0xFFFFFFFF); }),
          reduced(-1000, [](I greatest, I j) { return std::max(greatest, 40 - j); }),
          reduced(0, [](I greatest, I j) { return std::max(greatest, (40 - j) & 0xFFFFFFFF); }),
          reduced(0xFFFFFFFF, [](I bits, I j) { return bits & (0xF0 | j); }),
          reduced(0, [](I bits, I j) { return bits | 5 * j; }),
          reduced(0, [](I bits, I j) { return bits ^ 0x01010101 * j; }),
          [](I i) { return i % 32 == 7 || i % 32 == 9 ? i / 32 * 32 * 2 + 16 : -1; }});
}

TEST_P(WarpTest, BlocksVote) {
  expect("o[0] = __syncthreads_count(i % 7 == 0);\n"
         "o[n] = (__syncthreads_and(i < 80) != 0) * 2 + (__syncthreads_and(i != 33) != 0);\n"
         "o[2 * n] = (__syncthreads_or(i == 79) != 0) * 2 + (__syncthreads_or(i > 79) != 0);",
         {[](std::int64_t) { return 12; }, [](std::int64_t) { return 2; },
          [](std::int64_t) { return 2; }});
}

TEST_P(WarpTest, ASumOfABlockByShuffles) {
  expect("__shared__ int partial[3];\n"
         "int sum = i * i;\n"
         "for (int d = 16; d > 0; d /= 2) {\n"
         "  const int other = __shfl_down_sync(~0u, sum, d);\n"
         "  if (i + d < n) sum += other;\n" // the last warp has 16 threads
         "}\n"
         "if (lane == 0) partial[i / 32] = sum;\n"
         "__syncthreads();\n"
         "o[0] = partial[0] + partial[1] + partial[2];",
         {[](std::int64_t) { return 79 * 80 * 159 / 6; }});
}

TEST_P(WarpTest, SyncwarpOrdersSharedMemory) {
  expect("__shared__ int s[80];\n"
         "s[i] = i;\n"
         "__syncwarp();\n"
         "const int next = s[i / 32 * 32 + (lane + 1) % 16];\n"
         "__syncwarp(0xFFFFFFFFu);\n"
         "s[i] = 2 * next;\n"
         "__syncwarp();\n"
         "o[0] = s[i / 32 * 32];",
         {[](std::int64_t i) { return 2 * (i / 32 * 32 + 1); }});
}

TEST_P(WarpTest, ActiveThreadsShareOneAtomic) {
  std::vector<std::int64_t> out =
      run("__shared__ int count;\n"
          "if (i == 0) count = 0;\n"
          "__syncthreads();\n"
          "o[0] = -1;\n"
          "__syncthreads();\n"
          "if (i % 3 == 0) {\n"
          "  const unsigned active = __activemask();\n"
          "  const int leader = __ffs(active) - 1;\n"
          "  int at = lane == leader ? atomicAdd(&count, __popc(active)) : 0;\n"
          "  at = __shfl_sync(active, at, leader) + __popc(active & ((1u << lane) - 1));\n"
          "  out[at] = i;\n"
          "}",
          1);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < threads; i += 3) {
    expected.push_back(i);
  }
  EXPECT_THAT(std::vector<std::int64_t>(out.begin() + 27, out.end()), Each(-1));
  out.resize(27);
  EXPECT_THAT(out, testing::UnorderedElementsAreArray(expected));
}

TEST_P(WarpTest, AThreadWaitsAsleepForAnotherWarp) {
  for (const char *first : {"0", "64"}) {
    expect("__shared__ volatile int flag;\n"
           "if (i == 0) flag = 0;\n"
           "__syncthreads();\n"
           "const int first = " +
               std::string(first) +
               ";\n"
               "if (i == first) flag = 5;\n"
               "if (i == 64 - first) while (flag == 0) __nanosleep(20);\n"
               "__syncthreads();\n"
               "o[0] = flag;",
           {[](std::int64_t) { return 5; }});
  }
}

TEST_P(WarpTest, ClocksDoNotGoBack) {
  expect("const long long begin = clock64();\n"
         "const clock_t short_begin = clock();\n"
         "__syncthreads();\n"
         "o[0] = clock64() > begin;\n"
         "o[n] = clock() != short_begin;",
         {[](std::int64_t) { return 1; }, [](std::int64_t) { return 1; }});
}

TEST_P(WarpTest, ALaunchWithoutClustersHasClustersOfOneBlock) {
  expect("const dim3 dim = __clusterDim(), at = __clusterRelativeBlockIdx();\n"
         "o[0] = dim.x * 100 + dim.y * 10 + dim.z;\n"
         "o[n] = at.x + at.y + at.z + __clusterRelativeBlockRank();\n"
         "o[2 * n] = __clusterSizeInBlocks();",
         {[](std::int64_t) { return 111; }, [](std::int64_t) { return 0; },
          [](std::int64_t) { return 1; }});
}

} // namespace conformance
