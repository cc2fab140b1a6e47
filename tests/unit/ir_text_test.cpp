// IR text: what print() writes, read_ir() reads, and nothing else does harm.
#include "ir/read.h"
#include "text_compilation.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace {

using cgc::Diag;
using cgc::FileId;
using cgc::Module;
using cgc::SourceFiles;
using cgc::testing::TextCompilation;
using cgrt::format::Buffer;
using cgrt::format::ExprId;
using cgrt::format::Value;

/// IR text that was read, and what became of it.
class Reading {
public:
  explicit Reading(std::string_view text) {
    const FileId file = files_.add("test.cgir", text);
    module_ = cgc::read_ir(files_, file, diagnostics_);
  }

  bool ok() const { return module_.has_value(); }
  const Module &module() const { return *module_; }
  const SourceFiles &files() const { return files_; }
  std::string printed() const { return cgc::print(*module_, files_); }

  /// "3:7 expected ':'", of the first error.
  std::string error() const {
    if (diagnostics_.all().empty()) {
      return "";
    }
    const cgc::Diagnostic &first = diagnostics_.all().front();
    const cgc::Place place = files_.place(first.range);
    return std::to_string(place.line) + ":" + std::to_string(place.column) + " " + first.message;
  }
  Diag error_id() const { return diagnostics_.all().front().id; }
  std::size_t error_count() const { return diagnostics_.error_count(); }

private:
  SourceFiles files_;
  cgc::Diagnostics diagnostics_;
  std::optional<Module> module_;
};

constexpr std::string_view every_statement = R"(
const BIAS = f32(0.1);
param n: i32 = 8;
param s: u64 = 18446744073709551615;
param f: f64;
host in hx: f32[n, 4];
@mapped host scratch: u8[3];
device x, y, mapped: f32[n, 4];
device w: i64[n];
cuda { __device__ float helper(float x) { return x + BIAS; } }
kernel k<T: f32, i64>(n: i32, x: inout T[n]) grid(ceildiv(n, 32), 1, 2) block(32) shared(n * 4)
cuda { if (n > 0) x[0] = T(1); }
@inplace kernel h(a: f64, x: in f32[n, 4], y: out f32[n, 4], n: i32) grid(n) block(64)
cuda { y[0] = helper(float(a)); }
host { y[0] = float(a); }
def d(z: inout f32[m], m: i32) { device t: f32[m]; copy t <- z; fill z <- 0; copy z <- t; }
graph main {
  copy x <- hx;
  fill mapped <- (n > 4 ? 1.5 : -0.0);
  fill w <- -1;
  a: fill y[:, 1] <- !(n == 3 && s > 2) + min(n, 2) - n % 3;
  for i in 0..2 { copy y[i] <- x[i + 1]; }
  @name("it's \"k\"\\") k(n, w) after a;
  @priority(1) @cluster(2) k<<<(2, 3), 32, 64>>>(n, x[1]);
  h(f, x, y, n);
  child d(x[2], 4);
  d(mapped[0], 4);
}
graph second { fill scratch <- 255; })";

TEST(IrText, ReadsBackWhatIsPrinted) {
  const TextCompilation compiled(every_statement);
  ASSERT_EQ(compiled.errors(), "");
  const std::string text = cgc::print(compiled.module(), compiled.files());
  const Reading read(text);
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.printed(), text);
  EXPECT_EQ(read.module().program.kernels.size(), compiled.program().kernels.size());
  EXPECT_EQ(read.module().program.checks.size(), compiled.program().checks.size());
}

TEST(IrText, GivesTheCompilersTheSameCodeAtTheSameLines) {
  const TextCompilation compiled(every_statement);
  const Reading read(cgc::print(compiled.module(), compiled.files()));
  ASSERT_TRUE(read.ok());
  const auto same_code = [&](const cgc::CodeText &a, const cgc::CodeText &b) {
    EXPECT_EQ(a.text, b.text);
    const cgc::Place place = compiled.files().place(a.range);
    const cgc::Place place_read = read.files().place(b.range);
    EXPECT_EQ(read.files()[b.range.file].name(), compiled.files()[a.range.file].name());
    EXPECT_EQ(place_read.line, place.line);
    EXPECT_EQ(place_read.column, place.column);
  };
  const auto &sources = compiled.module().kernel_sources;
  ASSERT_EQ(read.module().kernel_sources.size(), sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const cgc::KernelSource &again = read.module().kernel_sources[i];
    same_code(sources[i].body, again.body);
    EXPECT_EQ(again.types, sources[i].types);
    EXPECT_EQ(again.scope, sources[i].scope);
    ASSERT_EQ(again.host.has_value(), sources[i].host.has_value());
    if (again.host) {
      same_code(*sources[i].host, *again.host);
    }
    EXPECT_EQ(read.files().place(again.name).line, compiled.files().place(sources[i].name).line);
  }
  ASSERT_EQ(read.module().scopes.size(), compiled.module().scopes.size());
  for (std::size_t i = 0; i < read.module().scopes.size(); ++i) {
    const cgc::CodeScope &scope = compiled.module().scopes[i];
    const cgc::CodeScope &again = read.module().scopes[i];
    ASSERT_EQ(again.blocks.size(), scope.blocks.size());
    ASSERT_EQ(again.constants.size(), scope.constants.size());
    for (std::size_t j = 0; j < scope.blocks.size(); ++j) {
      same_code(scope.blocks[j], again.blocks[j]);
    }
    for (std::size_t j = 0; j < scope.constants.size(); ++j) {
      EXPECT_EQ(again.constants[j].name, scope.constants[j].name);
      EXPECT_EQ(again.constants[j].type, scope.constants[j].type);
      EXPECT_EQ(again.constants[j].value, scope.constants[j].value);
    }
  }
}

TEST(IrText, ReadsBackTheExamples) {
  const std::filesystem::path folder = std::filesystem::path(CGRAPH_SOURCE_DIR) / "examples";
  if (!std::filesystem::exists(folder)) {
    GTEST_SKIP() << "the examples are not here";
  }
  std::size_t count = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cgraph") {
      std::ifstream in(entry.path(), std::ios::binary);
      const TextCompilation compiled(std::string(std::istreambuf_iterator<char>(in), {}), {},
                                     entry.path().string());
      ASSERT_EQ(compiled.errors(), "") << entry.path();
      const std::string text = cgc::print(compiled.module(), compiled.files());
      const Reading read(text);
      ASSERT_EQ(read.error(), "") << entry.path();
      EXPECT_EQ(read.printed(), text);
      ++count;
    }
  }
  EXPECT_GT(count, 2U);
}

/// A program made by hand, of one file, with a constant 4.
Module hand_made(ExprId &four) {
  Module module;
  module.program.files.emplace_back("a.cgraph");
  four = module.program.exprs.constant(Value::of(std::int64_t{4}));
  return module;
}

TEST(IrText, TakesAnyNameAndNumber) {
  ExprId four;
  Module module = hand_made(four);
  for (const char *name :
       {"plain", "a.b<f32, u8>.2", "a b", "<", "in", "mapped", "host", "\xE4\xB8\xAD",
        "tab\tline\nquote\"back\\bell\x07", "bad utf-8 \xFF\xC3"}) {
    Buffer buffer;
    buffer.name = name;
    buffer.shape = {four};
    module.program.buffers.push_back(buffer);
  }
  for (const double value : {0.1, -0.0, 1e300, 5e-324, std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity()}) {
    module.program.exprs.constant(Value::of(value));
  }
  for (const std::uint64_t nan : {0x7FF8000000000000U, 0xFFF8000000000001U, 0x7FF0000000000001U}) {
    module.program.exprs.constant(Value::from_bits(cgrt::format::ValueKind::Float, nan));
  }
  module.program.exprs.constant(Value::of(std::numeric_limits<std::int64_t>::min()));
  module.program.exprs.constant(Value::of(true));
  const std::string text = cgc::print(module, SourceFiles());
  const Reading read(text);
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.printed(), text);
  ASSERT_EQ(read.module().program.buffers.size(), module.program.buffers.size());
  for (std::size_t i = 0; i < module.program.buffers.size(); ++i) {
    EXPECT_EQ(read.module().program.buffers[i].name, module.program.buffers[i].name);
  }
  for (std::uint32_t i = 0; i < module.program.exprs.size(); ++i) {
    EXPECT_EQ(read.module().program.exprs[{i}], module.program.exprs[{i}]) << i;
  }
}

TEST(IrText, LeavesOutWhatSaysNothing) {
  const TextCompilation compiled("device x: f32[8];\n"
                                 "kernel k(x: out f32[8]) grid(2) block(4, 2) cuda {}\n"
                                 "graph main { k(x); k<<<1, 1, 16>>>(x[:]); fill x[0:4] <- 0; }");
  ASSERT_EQ(compiled.errors(), "");
  const std::string text = cgc::print(compiled.module());
  const auto line = [&](const std::string &start) {
    const std::size_t begin = text.find(start);
    return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto has = [](const std::string &in, std::string_view what) {
    return in.find(what) != std::string::npos;
  };
  EXPECT_FALSE(has(text, "cluster("));
  EXPECT_FALSE(has(text, "cooperative("));
  EXPECT_FALSE(has(text, "priority("));
  EXPECT_FALSE(has(line("  #0 = "), "shared_bytes("));
  EXPECT_TRUE(has(line("  #1 = "), "shared_bytes(%"));
  EXPECT_TRUE(has(line("  #0 = "), "arguments(x)"));
  EXPECT_TRUE(has(line("  #2 = "), "destination(x[%"));
  // grid(2) has no comma, block(4, 2) one.
  EXPECT_EQ(line("  #0 = ").find(','), line("  #0 = ").rfind(','));
}

TEST(IrText, WithoutCodeForPrintAfterAll) {
  const TextCompilation compiled(every_statement);
  const std::string text = cgc::print(compiled.module());
  EXPECT_EQ(text.find("helper"), std::string::npos);
  EXPECT_EQ(text.find("scope"), std::string::npos);
  EXPECT_NE(text.find("kernel h symbol cg_h("), std::string::npos);
}

TEST(IrText, NamesThePlaceOfAnError) {
  const std::string head = "file 0 \"a.cgraph\"\n%0 = const int 1\nbuffer device x: f32[%0]\n";
  const std::string scope = head + "scope 0\n";
  const std::string kernel = scope + "kernel k symbol k(x: in f32[]) @0:1:1\n";
  struct Case {
    std::string text;
    std::string error; ///< beginning of "line:column message"
  };
  const Case cases[] = {
      {"nonsense", "1:1 expected file, param, buffer,"},
      {"file 1 \"a\"", "1:6 expected 0"},
      {"file 0 a", "1:8 expected a string"},
      {"file 0 \"a", "1:8 expected a string"},
      {"file 0 \"\\q\"", "1:8 expected no NUL and no escapes but"},
      {"file 0 \"\\x00\"", "1:8 expected no NUL and no escapes but"},
      {std::string("file 0 \"\0\"", 10), "1:8 expected no NUL"},
      {"file 0 \"\\x1\"", "1:8 expected no NUL and no escapes but"},
      {"%1 = const int 1", "1:1 expected %0"},
      {"%0 = nothing %0", "1:6 expected an operator"},
      {"%0 = const int 99999999999999999999", "1:16 expected an i64"},
      {"%0 = const uint -1", "1:17 expected a u64"},
      {"%0 = const float 1e999", "1:18 expected a float"},
      {"%0 = const float 0x3ff0000000000000", "1:18 expected a float"},
      {"%0 = const bool 1", "1:17 expected true or false"},
      {"%0 = neg %0", "1:10 there is no expression %0 above"},
      {"%0 = neg %99999999999999999999", "1:10 expected an expression such as %3"},
      {"%0 = param n", "1:12 there is no param 'n' above"},
      {"%0 = const float 1\n%1 = and %0 %0", "2:6 the program is broken: the operator takes no"},
      {"%0 = const int 1\n%1 = add %0", "2:12 expected an expression"},
      {"%0 = const int 1 1", "1:18 expected the line's end"},
      {"param n: i33", "1:10 expected a type"},
      {"param n: i32 = %0",
       "1:1 the program is broken: parameter 'n': its default is not constant"},
      {"param \"\": i32", "1:7 expected a name"},
      {"param n: i32\nparam n: i32",
       "1:1 the program is broken: parameter 'n': the name is empty or"},
      {"param n: i32 @0:1:1", "1:15 there is no file 0 above"},
      {head + "param n: i32 @0:0:1", "4:16 expected lines and columns from 1"},
      {head + "param n: i32 @0:4294967296:1", "4:17 expected a line"},
      {"buffer x: f32[]", "1:8 expected 'device'"},
      {"buffer device x: f32[]", "1:1 the program is broken: buffer 'x': it has 0 dimensions"},
      {head + "buffer device mapped y: f32[%0]",
       "1:1 the program is broken: buffer 'y': only host"},
      {head + "kernel k symbol a.b() @0:1:1", "4:17 expected an identifier"},
      {head + "kernel k symbol k()", "4:20 expected the kernel's place"},
      {head + "kernel k symbol k() @0:1:1\n", "5:1 expected 'scope'"},
      {head + "kernel k symbol k() @0:1:1\nscope 0", "5:7 there is no scope 0 above"},
      {head + "scope 0\nkernel k symbol k() strided external @0:1:1\nscope 0",
       "1:1 the program is broken: kernel 'k': it is external"},
      {scope + "cuda \"\"", "5:6 expected the code's place"},
      {kernel + "scope 0\n", "7:1 expected the kernel's code"},
      {kernel + "scope 0\nsource 0 symbol \"k\"", "7:8 there is no text of file 0 above"},
      {kernel + "scope 0\nbinary symbol \"k\" \"0g\"", "7:19 expected two hexadecimal digits"},
      {kernel + "scope 0\nbinary symbol \"k\" \"012\"", "7:19 expected two hexadecimal digits"},
      {kernel + "scope 0\ncuda \"abc\" @0:1:5\nhost \"xyz\" @0:1:6",
       "8:6 the program is broken: the file cannot have this"},
      {kernel + "scope 0\ncuda \"abc\" @0:4000000000:1",
       "7:6 the program is broken: the file cannot have this"},
      {kernel + "scope 0\ncuda \"abc\" @0:1:4000000000",
       "7:6 the program is broken: the file cannot have this"},
      {head + "check %0 < %0 [shape] \"\"", "4:10 expected '=='"},
      {head + "graph g {\n", "5:1 expected '#0' or '}'"},
      {head + "graph g {\n#1 = fill", "5:1 expected '#0' or '}'"},
      {head + "graph g {\n#0 = fly", "5:6 expected a kind of node"},
      {head + "graph g {\n#0 = fill value(%0)", "5:11 expected 'destination'"},
      {head + "graph g {\n#0 = fill destination(y)", "5:23 there is no buffer 'y' above"},
      {head + "graph g {\n#0 = kernel kernel(k)", "5:20 there is no kernel 'k' above"},
      {head + "graph g {\n#0 = child graph(g)", "5:18 there is no graph 'g' above"},
      {head + "graph g {\n#0 = copy destination(x) source(x) after #0\n}",
       "1:1 the program is broken: graph 'g' node 0: its dependencies are not"},
      {head + "graph g {\n#0 = copy destination(x) source(x[]) \n}",
       "1:1 the program is broken: graph 'g' node 0: it gives 0 ranges"},
      {kernel +
           "scope 0\ncuda \"\"\ngraph g {\n#0 = kernel kernel(k) grid(%0) block(%0) arguments()\n}",
       "1:1 the program is broken: graph 'g' node 0: it has 0 arguments"},
  };
  for (const Case &example : cases) {
    const Reading read(example.text);
    EXPECT_FALSE(read.ok()) << example.text;
    EXPECT_EQ(read.error().substr(0, example.error.size()), example.error) << example.text;
    EXPECT_EQ(read.error_count(), 1U) << example.text;
  }
}

TEST(IrText, TellsItsKindsOfErrors) {
  EXPECT_EQ(Reading("graph 1").error_id(), Diag::IrExpected);
  EXPECT_EQ(Reading("%0 = param n").error_id(), Diag::IrUnknown);
  EXPECT_EQ(Reading("buffer device x: f32[]").error_id(), Diag::IrBroken);
}

/// Whatever is read prints as a text that reads back as itself.
void expect_harmless(const std::string &text) {
  const Reading first(text);
  if (first.ok()) {
    const std::string printed = first.printed();
    const Reading second(printed);
    ASSERT_EQ(second.error(), "") << text;
    ASSERT_EQ(second.printed(), printed) << text;
  } else {
    ASSERT_EQ(first.error_count(), 1U) << text;
  }
}

TEST(IrText, SurvivesEveryChangedByte) {
  const TextCompilation compiled(every_statement);
  const std::string text = cgc::print(compiled.module(), compiled.files());
  ASSERT_GT(text.size(), 3000U);
  constexpr std::string_view replacements = "\n\"0%@";
  for (std::size_t at = 0; at < text.size() && !HasFatalFailure(); ++at) {
    std::string changed = text;
    changed[at] =
        at % 2 == 0 ? static_cast<char>(changed[at] ^ 1) : replacements[at % replacements.size()];
    expect_harmless(changed);
    changed.erase(at, 1);
    expect_harmless(changed);
  }
}

TEST(IrText, SurvivesTheLossOfAnyLine) {
  const TextCompilation compiled(every_statement);
  const std::string text = cgc::print(compiled.module(), compiled.files());
  for (std::size_t at = 0; at < text.size() && !HasFatalFailure(); at = text.find('\n', at) + 1) {
    std::string changed = text;
    changed.erase(at, text.find('\n', at) + 1 - at);
    expect_harmless(changed);
    expect_harmless(text.substr(0, at));
  }
}

TEST(IrText, SurvivesManyTokens) {
  constexpr std::size_t count = 100'000;
  for (const std::string_view token : {"(", "[", "%0 ", "#0 ", "@", "x ", "\"\" ", "\n", ";\n",
                                       "graph ", "file 0 \"\"\n", "<", "a<"}) {
    std::string text = "buffer device x: f32";
    for (std::size_t i = 0; i < count; ++i) {
      text += token;
    }
    EXPECT_EQ(Reading(text).error_count(), 1U) << token;
    EXPECT_EQ(Reading(text.substr(20)).error_count(), token == "\n" || token == ";\n" ? 0U : 1U)
        << token;
  }
  std::string chain = "%0 = const int 1\n";
  for (std::size_t i = 1; i < count; ++i) {
    chain += "%" + std::to_string(i) + " = neg %" + std::to_string(i - 1) + "\n";
  }
  const Reading read(chain);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.printed(), chain);
}

TEST(IrText, TakesEveryLineEndAndComments) {
  const Reading read("; a comment\r\n\r\n  file 0 \"a\" ; another\r\n\t%0 = const int 4;\r"
                     "buffer device x: f32[%0]");
  ASSERT_EQ(read.error(), "");
  EXPECT_EQ(read.printed(), "file 0 \"a\"\n%0 = const int 4\nbuffer device x: f32[%0]\n");
  const Reading empty("");
  EXPECT_TRUE(empty.ok());
  EXPECT_EQ(empty.printed(), "");
}

} // namespace
