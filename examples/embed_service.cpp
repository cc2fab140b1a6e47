// A service: 8 workers take requests of many sizes from a queue, each with an instance of its own,
// whose size and memory it changes to the request's. The input is the client's memory, not copied.
//
//   embed_service [host|cuda]
//
// Exit status: 0 right, 1 wrong or an error, 2 wrong usage, 77 no GPU.
#include "example.h"
#include "saxpy.cgraph.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <thread>
#include <vector>

namespace {

/// Memory that a GPU can copy from, kept by whoever uses it. On the host device any will do.
class ClientMemory {
public:
  ClientMemory(const cgrt::Device &device, std::size_t elements)
      : instance_(Saxpy::program(), device, {{"n", static_cast<std::int64_t>(elements)}}) {}
  std::span<float> elements() { return instance_.host<float>("hx"); }

private:
  cgrt::Instance instance_; // the simplest source of pinned memory
};

struct Request {
  float a = 0;
  std::shared_ptr<ClientMemory> x;
};

class Requests {
public:
  void push(Request request) {
    const std::lock_guard lock(mutex_);
    all_.push(std::move(request));
  }
  /// False when there are none left.
  bool pop(Request &request) {
    const std::lock_guard lock(mutex_);
    if (all_.empty()) {
      return false;
    }
    request = std::move(all_.front());
    all_.pop();
    return true;
  }

private:
  std::mutex mutex_;
  std::queue<Request> all_;
};

/// Wrong elements of all requests that this worker has served.
std::size_t serve(const cgrt::Device &device, Requests &requests, std::atomic<int> &served) {
  SaxpyMain graph(device, {.n = 1});
  std::size_t wrong = 0;
  for (Request request; requests.pop(request); ++served) {
    const std::span<const float> x = request.x->elements();
    // One update: the size, the factor and where the input lies.
    cgrt::Changes changes;
    changes.params = {{"n", static_cast<std::int64_t>(x.size())}, {"a", double{request.a}}};
    changes.memory = {{"hx", {x, request.x}}};
    graph.update(changes);
    std::ranges::fill(graph.hy(), 1.0F);
    graph.run();
    for (std::size_t i = 0; i < x.size(); ++i) {
      wrong += graph.hy()[i] == request.a * x[i] + 1 ? 0 : 1;
    }
  }
  return wrong;
}

int run(const cgrt::Device &device) {
  Requests requests;
  constexpr int request_count = 200;
  for (int i = 0; i < request_count; ++i) {
    Request request = {static_cast<float>(i % 7),
                       std::make_shared<ClientMemory>(device, i * 37 % 999)};
    std::iota(request.x->elements().begin(), request.x->elements().end(), static_cast<float>(i));
    requests.push(std::move(request));
  }
  constexpr std::size_t worker_count = 8;
  std::vector<std::thread> workers;
  workers.reserve(worker_count);
  std::atomic<int> served = 0;
  std::atomic<std::size_t> wrong = 0;
  for (std::size_t worker = 0; worker < worker_count; ++worker) {
    workers.emplace_back([&] {
      try {
        wrong += serve(device, requests, served);
      } catch (const std::exception &error) {
        std::fprintf(stderr, "embed_service: %s\n", error.what());
        ++wrong;
      }
    });
  }
  for (std::thread &worker : workers) {
    worker.join();
  }
  std::printf("embed_service on %s: %d requests served, %zu wrong elements\n",
              device.name().c_str(), served.load(), wrong.load());
  return served == request_count && wrong == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  return example::main_on_device(argc, argv, run);
}
