#include "npy.h"

#include <cgrt/types.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace cgrun {
namespace {

using cgrt::ScalarType;

std::vector<std::byte> bytes_of(const std::string &text) {
  const auto *data = reinterpret_cast<const std::byte *>(text.data());
  return {data, data + text.size()};
}

/// A version 1.0 or 2.0 file with this header text and data.
std::string npy_file(const std::string &header, const std::string &data, char major = 1) {
  std::string file = "\x93NUMPY";
  file +=
      {major, '\0', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  if (major == 2) {
    file += {'\0', '\0'};
  }
  return file + header + data;
}

std::string header(const std::string &descr, const std::string &shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }          \n";
}

/// What reading the file as this type and shape gives, as text.
std::string read(const std::string &file, ScalarType type, const std::vector<std::size_t> &shape) {
  const std::vector<std::byte> bytes = bytes_of(file);
  const std::vector<std::byte> data = npy_contents(parse_npy(bytes, "x.npy"), type, shape, "x.npy");
  return {reinterpret_cast<const char *>(data.data()), data.size()};
}

/// The message of the error that reading ends in.
std::string problem(const std::string &file, ScalarType type = ScalarType::U8,
                    const std::vector<std::size_t> &shape = {4}) {
  try {
    read(file, type, shape);
  } catch (const cgrt::Error &error) {
    EXPECT_EQ(error.code(), cgrt::ErrorCode::Usage);
    EXPECT_EQ(error.message().rfind("x.npy: ", 0), 0U) << error.message();
    return error.message();
  }
  return "no error";
}

void expect_problem(const std::string &file, const std::string &part) {
  EXPECT_NE(problem(file).find(part), std::string::npos) << problem(file);
}

TEST(NpyTest, ReadsBothVersions) {
  EXPECT_EQ(read(npy_file(header("|u1", "(4,)"), "abcd"), ScalarType::U8, {4}), "abcd");
  EXPECT_EQ(read(npy_file(header("|u1", "(2, 2)"), "abcd", 2), ScalarType::U8, {2, 2}), "abcd");
}

TEST(NpyTest, TakesKeysInAnyOrderAndQuoting) {
  const std::string text = "{\"shape\": (4L,), \"fortran_order\": False, \"descr\": \"|u1\"}";
  EXPECT_EQ(read(npy_file(text, "abcd"), ScalarType::U8, {4}), "abcd");
}

TEST(NpyTest, RoundTripsEveryType) {
  for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(ScalarType::F64); ++i) {
    const auto type = static_cast<ScalarType>(i);
    const std::string head = npy_header(type, std::vector<std::size_t>{2});
    EXPECT_EQ(head.size() % 64, 0U);
    const std::size_t element = std::stoul(std::string(npy_descr(type).substr(2)));
    const std::string data(2 * element, '\1');
    EXPECT_EQ(read(head + data, type, {2}), data) << npy_descr(type);
  }
}

TEST(NpyTest, WritesShapesAsPythonTuples) {
  const auto shape_of = [](const std::vector<std::size_t> &shape) {
    const std::string head = npy_header(ScalarType::F32, shape);
    const std::size_t begin = head.find('(');
    return head.substr(begin, head.find(')') + 1 - begin);
  };
  EXPECT_EQ(shape_of({7}), "(7,)");
  EXPECT_EQ(shape_of({0}), "(0,)");
  EXPECT_EQ(shape_of({1, 2, 3, 4, 5, 6, 7, 8}), "(1, 2, 3, 4, 5, 6, 7, 8)");
}

TEST(NpyTest, TurnsFortranOrderIntoRowMajor) {
  // [[a b c] [d e f]] column by column.
  EXPECT_EQ(read(npy_file(header("|u1", "(2, 3)", true), "adbecf"), ScalarType::U8, {2, 3}),
            "abcdef");
  // Element (i, j, k) of a 2x2x2 array is digit 4i + 2j + k.
  EXPECT_EQ(read(npy_file(header("|u1", "(2, 2, 2)", true), "04261537"), ScalarType::U8, {2, 2, 2}),
            "01234567");
  EXPECT_EQ(read(npy_file(header("<i2", "(2, 2)", true), "aaccbbdd"), ScalarType::I16, {2, 2}),
            "aabbccdd");
}

TEST(NpyTest, ReadsBf16FromItsBits) {
  for (const char *descr : {"<u2", "|V2", "<V2"}) {
    EXPECT_EQ(read(npy_file(header(descr, "(2,)"), "abcd"), ScalarType::BF16, {2}), "abcd");
  }
}

TEST(NpyTest, NamesBothTypesAndShapes) {
  EXPECT_EQ(problem(npy_file(header("<f4", "(1,)"), "abcd")),
            "x.npy: holds '<f4' of shape (1,); wanted is '|u1' of shape (4,)");
  EXPECT_EQ(problem(npy_file(header("|u1", "(2, 2)"), "abcd")),
            "x.npy: holds '|u1' of shape (2, 2); wanted is '|u1' of shape (4,)");
  expect_problem(npy_file(header("|u1", "()"), "a"), "shape ()");
  expect_problem(npy_file(header("|i1", "(4,)"), "abcd"), "'|i1'");
  EXPECT_NE(problem(npy_file(header("<f2", "(2,)"), "abcd"), ScalarType::BF16, {2}).find("'<f2'"),
            std::string::npos);
}

TEST(NpyTest, RefusesBigEndian) {
  const std::string message =
      problem(npy_file(header(">i4", "(1,)"), "abcd"), ScalarType::I32, {1});
  EXPECT_NE(message.find("big-endian"), std::string::npos) << message;
}

TEST(NpyTest, RefusesBoolsBeyondOne) {
  EXPECT_EQ(read(npy_file(header("|b1", "(2,)"), {'\0', '\1'}), ScalarType::Bool, {2}),
            std::string({'\0', '\1'}));
  const std::string message =
      problem(npy_file(header("|b1", "(2,)"), {'\0', '\2'}), ScalarType::Bool, {2});
  EXPECT_NE(message.find("neither 0 nor 1"), std::string::npos) << message;
}

TEST(NpyTest, RefusesWrongDataSizes) {
  expect_problem(npy_file(header("|u1", "(4,)"), "abc"), "holds 3 bytes of data");
  expect_problem(npy_file(header("|u1", "(4,)"), "abcde"), "holds 5 bytes of data");
  EXPECT_NE(problem(npy_file(header("<f8", "(4294967296, 4294967296)"), "abcd"), ScalarType::F64,
                    {4294967296, 4294967296})
                .find("more than can be addressed"),
            std::string::npos);
}

TEST(NpyTest, RefusesDamagedHeaders) {
  const std::string good = npy_file(header("|u1", "(4,)"), "abcd");
  expect_problem("", "magic");
  expect_problem("\x93NUMPZ" + good.substr(6), "magic");
  expect_problem(npy_file(header("|u1", "(4,)"), "abcd", 3), "version is 3.0");
  expect_problem(npy_file("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", ""),
                 "structured");
  expect_problem(npy_file("{'descr': '|u1', 'fortran_order': 1, 'shape': (4,)}", "abcd"),
                 "fortran_order");
  expect_problem(npy_file(header("|u1", "(-4,)"), "abcd"), "shape");
  expect_problem(npy_file(header("|u1", "(99999999999999999999,)"), "abcd"), "shape");
  expect_problem(npy_file(header("|u1", "4"), "abcd"), "'('");
  expect_problem(npy_file("{'descr': '|u1', 'shape': (4,)}", "abcd"), "lacks");
  expect_problem(npy_file("{'shape': (4,), 'shape': (4,)}", "abcd"), "repeated key 'shape'");
  expect_problem(npy_file(header("|u1", "(4,)") + "x", "abcd"), "closing brace");
  std::string many = "(";
  for (int i = 0; i < 100; ++i) {
    many += "1, ";
  }
  expect_problem(npy_file(header("|u1", many + ")"), "a"), "dimensions");
}

TEST(NpyTest, RefusesEveryTruncation) {
  for (const char major : {'\1', '\2'}) {
    const std::string good = npy_file(header("|u1", "(4,)"), "abcd", major);
    for (std::size_t length = 0; length < good.size(); ++length) {
      EXPECT_NE(problem(good.substr(0, length)), "no error") << length;
    }
  }
}

TEST(NpyTest, SurvivesEveryFlippedByte) {
  const std::string good = npy_file(header("|u1", "(4,)"), "abcd");
  for (std::size_t at = 0; at < good.size() - 4; ++at) {
    for (const unsigned mask : {0x01U, 0x80U, 0xFFU}) {
      std::string file = good;
      file[at] = static_cast<char>(static_cast<unsigned char>(file[at]) ^ mask);
      problem(file); // an error or, for a byte that means nothing, the array
    }
  }
}

} // namespace
} // namespace cgrun
