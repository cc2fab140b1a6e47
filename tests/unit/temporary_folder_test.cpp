#include "kernels/temporary_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using cgc::TemporaryFolder;

TEST(TemporaryFolder, GoesWithItsFiles) {
  std::string path;
  {
    const TemporaryFolder folder({"a", "b"});
    ASSERT_FALSE(folder.error());
    path = folder.path();
    EXPECT_EQ(folder.file(1), path + "/b");
    std::ofstream(folder.file(1)) << "text";
    EXPECT_TRUE(std::filesystem::exists(folder.file(1)));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

/// A child process says where its folder is and waits for a signal; how it ended.
int end_of_interrupted_child(int number, std::string &path) {
  int pipe_ends[2] = {};
  EXPECT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const TemporaryFolder first({"a"});
    const TemporaryFolder folder({"a"});
    std::ofstream(folder.file(0)) << "text";
    const ssize_t written = write(pipe_ends[1], folder.path().data(), folder.path().size());
    if (written > 0) {
      pause(); // until the signal
    }
    _exit(1);
  }
  char text[1024];
  const ssize_t size = read(pipe_ends[0], text, sizeof text);
  path.assign(text, static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  EXPECT_TRUE(std::filesystem::exists(path + "/a"));
  kill(child, number);
  int status = 0;
  waitpid(child, &status, 0);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  return status;
}

TEST(TemporaryFolder, GoesWhenTheProcessIsInterrupted) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::string path;
    const int status = end_of_interrupted_child(number, path);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == number);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
}

TEST(TemporaryFolder, LeavesTheHandlersOfOthersAlone) {
  struct sigaction before = {};
  struct sigaction after = {};
  sigaction(SIGINT, nullptr, &before);
  { const TemporaryFolder folder({}); }
  sigaction(SIGINT, nullptr, &after);
  EXPECT_EQ(before.sa_handler, after.sa_handler);

  std::signal(SIGHUP, SIG_IGN); // as nohup does
  {
    const TemporaryFolder folder({});
    raise(SIGHUP);
    EXPECT_TRUE(std::filesystem::exists(folder.path()));
  }
  std::signal(SIGHUP, SIG_DFL);
}

} // namespace
