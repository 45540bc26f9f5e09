// The only file that knows Boost.Beast: connections, timeouts, and the stream of events.
#include <unistd.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <set>

#include "base/freed_memory.h"
#include "web/live.h"
#include "web/page_answer.h"
#include "web/route.h"
#include "web/security.h"
#include "web/turns.h"
#include "web/web.h"

namespace trainscope {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Failure = beast::error_code;
using Headers = http::request<http::empty_body>;

constexpr size_t kMostConnections = 256;
constexpr uint32_t kMostHeaderBytes = 16 * 1024;
constexpr std::chrono::seconds kHeaderTime{10}, kIdleTime{60}, kWriteTime{30}, kHeartbeatTime{15};
// Threads: those that a slow disk holds must not be all. One run gets as many as a browser has
// connections, however often its page is loaded again while the disk hangs.
constexpr size_t kReaders = 24, kReadersOfOne = 6;
constexpr size_t kMostWaiting = 128, kMostWaitingForOne = 96;  // requests for these threads
constexpr std::chrono::milliseconds kTurnTime{20};

auto use_failure(Failure& failure) { return asio::redirect_error(asio::use_awaitable, failure); }

struct Follower;

// A run that pages follow. Everything but reading the run happens on the thread of connections.
struct Feed {
  std::string event;    // the last one; "": the run was not read yet
  uint64_t number = 0;  // of that event
  bool is_over = false;
  std::set<Follower*> followers;
};

// A page that follows a run, waiting for the next event.
struct Follower {
  Follower(asio::io_context& io, std::shared_ptr<Feed> followed)
      : feed(std::move(followed)), wake(io) {
    feed->followers.insert(this);
  }
  ~Follower() { feed->followers.erase(this); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  std::shared_ptr<Feed> feed;
  asio::steady_timer wake;
};

class Server : public WebServer {
 public:
  Server(const WebOptions& options, std::string token)
      : acceptor_(io_),
        signals_(io_),
        site_(make_site(options.home, options.named_runs)),
        address_(options.address),
        token_(std::move(token)) {}

  Status listen(uint16_t port) {
    Failure failure;
    const auto address = asio::ip::make_address(address_, failure);
    if (failure) return Error("'" + address_ + "' is not an address");
    const tcp::endpoint endpoint(address, port);
    acceptor_.open(endpoint.protocol(), failure);
    if (!failure) acceptor_.set_option(tcp::acceptor::reuse_address(true), failure);
    if (!failure) acceptor_.bind(endpoint, failure);
    if (!failure) acceptor_.listen(asio::socket_base::max_listen_connections, failure);
    if (failure) {
      return Error("cannot listen on " + address_ + " port " + std::to_string(port) + ": " +
                       failure.message() + "; try another --port",
                   failure.value());
    }
    port_ = acceptor_.local_endpoint(failure).port();
    gate_ = std::make_unique<Gate>(token_, address_, port_);
    // From here on, so that whoever has read the address can end the server.
    std::signal(SIGPIPE, SIG_IGN);
    signals_.add(SIGINT, failure);
    signals_.add(SIGTERM, failure);
    signals_.async_wait([this](const Failure&, int) { io_.stop(); });
    return {};
  }

  uint16_t port() const override { return port_; }
  const std::string& token() const override { return token_; }

  Status serve() override {
    asio::co_spawn(io_, accept(), asio::detached);
    io_.run();
    readers_.stop();
    // A thread that waits for a disk that hangs would be waited for here.
    for (int i = 0; i < 20 && reading_ > 0; ++i) ::usleep(50'000);
    if (reading_ > 0) ::_exit(0);
    readers_.join();
    return {};
  }

 private:
  template <typename T>
  using Task = asio::awaitable<T>;

  Task<void> accept() {
    for (;;) {
      Failure failure;
      tcp::socket socket = co_await acceptor_.async_accept(use_failure(failure));
      if (failure == asio::error::operation_aborted) co_return;
      if (failure) {  // no free descriptor, perhaps: one will be closed
        asio::steady_timer pause(io_, std::chrono::milliseconds(100));
        co_await pause.async_wait(use_failure(failure));
        continue;
      }
      if (connections_ >= kMostConnections) {
        refuse(socket);
        continue;
      }
      ++connections_;
      asio::co_spawn(io_, connection(std::move(socket)), asio::detached);
    }
  }

  // As far as the socket takes it at once.
  static void refuse(tcp::socket& socket) {
    static constexpr std::string_view kBusy =
        "HTTP/1.1 429 Too Many Requests\r\nConnection: close\r\nRetry-After: 1\r\n"
        "Content-Type: application/json\r\nContent-Length: 35\r\n\r\n"
        "{\"error\": \"too many connections\"}  ";
    Failure ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(kBusy), ignored);
    socket.shutdown(tcp::socket::shutdown_both, ignored);
  }

  // Counts a connection, or a request, until it is over.
  struct Leaving {
    size_t& count;
    ~Leaving() { --count; }
  };

  Task<void> connection(tcp::socket socket) {
    const Leaving leaving{connections_};
    beast::tcp_stream stream(std::move(socket));
    beast::flat_buffer buffer;
    bool is_open = true;
    for (bool is_first = true; is_open; is_first = false) {
      http::request_parser<http::empty_body> parser;
      parser.header_limit(kMostHeaderBytes);
      parser.body_limit(0);
      Failure failure;
      stream.expires_after(is_first ? kHeaderTime : kIdleTime);
      co_await http::async_read(stream, buffer, parser, use_failure(failure));
      if (failure) {
        co_await send_failure(stream, failure);
        break;
      }
      is_open = co_await answer(stream, parser.release());
    }
    Failure ignored;
    stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
  }

  // Why a request could not be read; of one that never came, nothing is sent.
  Task<void> send_failure(beast::tcp_stream& stream, Failure failure) {
    WebAnswer refused;
    if (failure == http::error::header_limit || failure == http::error::buffer_overflow) {
      refused = refusal(431, "the headers are too large");
    } else if (failure == http::error::body_limit || failure == http::error::unexpected_body) {
      refused = refusal(413, "a request must not have a body");
    } else if (failure.category() == http::make_error_code(http::error::bad_method).category() &&
               failure != http::error::end_of_stream && failure != http::error::partial_message) {
      refused = refusal(400, "the request is malformed");
    } else {
      co_return;
    }
    co_await send(stream, std::move(refused), false, false);
  }

  // False: the connection ends.
  Task<bool> answer(beast::tcp_stream& stream, Headers headers) {
    Visit visit{std::string_view(headers.method_string()),
                std::string_view(headers.target()),
                {},
                std::string_view(headers[http::field::cookie]),
                std::string_view(headers[http::field::origin]),
                std::string_view(headers["Sec-Fetch-Site"])};
    const auto hosts = headers.equal_range(http::field::host);
    for (auto each = hosts.first; each != hosts.second; ++each) {
      visit.hosts.emplace_back(each->value());
    }
    const bool is_head = headers.method() == http::verb::head;
    Gate::Checked checked = gate_->check(visit);
    if (checked.answer) {
      const bool stays = headers.keep_alive() && checked.answer->status < 400;
      co_return co_await send(stream, std::move(*checked.answer), is_head, stays);
    }
    const std::string_view known = headers[http::field::if_none_match];
    if (auto page = page_answer(checked.target.path, known)) {
      co_return co_await send(stream, std::move(*page), is_head, headers.keep_alive());
    }
    const MatchedRoute matched = find_route(checked.target.path);
    if (matched.route == nullptr) {
      co_return co_await send(stream, refusal(404, "there is no such page"), is_head,
                              headers.keep_alive());
    }
    WebAnswer answered = co_await read(checked.target, matched);
    if (matched.route->is_stream && answered.status == 200 && !is_head) {
      co_await follow(stream, matched.parts.front());
      co_return false;
    }
    if (answered.has_tag(known)) answered = WebAnswer{304, answered.type, "", answered.headers};
    co_return co_await send(stream, std::move(answered), is_head, headers.keep_alive());
  }

  // On a thread of the pool.
  Task<WebAnswer> read(const WebTarget& target, const MatchedRoute& matched) {
    const auto turns = turns_.of(matched.parts.empty() ? target.path : matched.parts.front());
    if (waiting_ >= kMostWaiting || turns->waiting >= kMostWaitingForOne) {
      co_return refusal(503, "too many requests at once");
    }
    ++waiting_;
    ++turns->waiting;
    const Leaving leaving{waiting_}, leaving_turns{turns->waiting};
    asio::steady_timer turn(io_);
    while (turns->reading >= kReadersOfOne) {
      Failure ignored;
      turn.expires_after(kTurnTime);
      co_await turn.async_wait(use_failure(ignored));
    }
    ++turns->reading;
    const Leaving leaving_reading{turns->reading};
    co_return co_await asio::co_spawn(
        readers_,
        [&]() -> Task<WebAnswer> {
          const ReadingNow now(reading_);
          co_return ask_route(*matched.route, {target, matched.parts, *site_});
        },
        asio::use_awaitable);
  }

  struct ReadingNow {
    explicit ReadingNow(std::atomic<int>& number) : count(number) { ++count; }
    ~ReadingNow() { --count; }
    ReadingNow(const ReadingNow&) = delete;
    ReadingNow& operator=(const ReadingNow&) = delete;
    std::atomic<int>& count;
  };

  template <typename Message>
  static void set_headers(Message& message, const WebAnswer& answered) {
    message.set(http::field::content_type, answered.type);
    for (const auto& [name, value] : security_headers()) message.set(name, value);
    for (const auto& [name, value] : answered.headers) message.set(name, value);
  }

  // False: the connection ends.
  static Task<bool> send(beast::tcp_stream& stream, WebAnswer answered, bool is_head, bool stays) {
    Failure failure;
    stream.expires_after(kWriteTime);
    const auto status = static_cast<http::status>(answered.status);
    const bool has_body = !is_head && answered.status != 304;
    http::response<http::string_body> message(status, 11);
    set_headers(message, answered);
    message.keep_alive(stays);
    if (answered.status != 304) message.content_length(answered.body.size());
    if (has_body) message.body() = std::move(answered.body);
    http::response_serializer<http::string_body> serializer(message);
    if (!has_body) co_await http::async_write_header(stream, serializer, use_failure(failure));
    // As long as something is taken: a large answer may go through a slow tunnel.
    while (has_body && !failure && !serializer.is_done()) {
      stream.expires_after(kWriteTime);
      co_await http::async_write_some(stream, serializer, use_failure(failure));
    }
    co_return stays && !failure;
  }

  // Events of a run until it ends or the page is closed.
  Task<void> follow(beast::tcp_stream& stream, std::string id) {
    http::response<http::empty_body> message(http::status::ok, 11);
    set_headers(message, WebAnswer{200, "text/event-stream", "", {}});
    message.keep_alive(false);
    http::response_serializer<http::empty_body> serializer(message);
    Failure failure;
    stream.expires_after(kWriteTime);
    co_await http::async_write_header(stream, serializer, use_failure(failure));
    Follower follower(io_, feed_of(id));
    const Feed* const feed = follower.feed.get();
    uint64_t seen = 0;
    while (!failure) {
      if (feed->number == seen) {
        follower.wake.expires_after(kHeartbeatTime);
        Failure woken;
        co_await follower.wake.async_wait(use_failure(woken));
      }
      const bool is_new = feed->number != seen;
      seen = feed->number;
      const std::string text = is_new ? feed->event : kHeartbeat;
      const bool is_last = is_new && feed->is_over;
      stream.expires_after(kWriteTime);
      co_await asio::async_write(stream, asio::buffer(text), use_failure(failure));
      if (is_last) break;
    }
  }

  std::shared_ptr<Feed> feed_of(const std::string& id) {
    std::shared_ptr<Feed>& feed = feeds_[id];
    if (feed == nullptr) {
      feed = std::make_shared<Feed>();
      asio::co_spawn(io_, poll(id, feed), asio::detached);
    }
    return feed;
  }

  // Reads the run while somebody follows it.
  Task<void> poll(std::string id, std::shared_ptr<Feed> feed) {
    asio::steady_timer pause(io_);
    do {
      const LiveState state = co_await asio::co_spawn(
          readers_,
          [&]() -> Task<LiveState> {
            const ReadingNow now(reading_);
            co_return live_state(*site_, id);
          },
          asio::use_awaitable);
      const std::string event = event_text(state);
      if (event != feed->event) {
        feed->event = event;
        feed->is_over = state.is_over;
        ++feed->number;
        for (Follower* const each : feed->followers) each->wake.cancel();
      }
      pause.expires_after(std::chrono::nanoseconds(state.pause_ns));
      Failure ignored;
      co_await pause.async_wait(use_failure(ignored));
    } while (!feed->is_over && !feed->followers.empty());
    feeds_.erase(id);
  }

  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::signal_set signals_;
  const std::shared_ptr<Site> site_;
  const std::string address_, token_;
  uint16_t port_ = 0;
  std::unique_ptr<Gate> gate_;
  // On the thread of connections.
  size_t connections_ = 0, waiting_ = 0;
  TurnsByName turns_;
  std::map<std::string, std::shared_ptr<Feed>> feeds_;
  std::atomic<int> reading_ = 0;
  asio::thread_pool readers_{kReaders};
};

}  // namespace

std::optional<bool> is_loopback(const std::string& address) {
  Failure failure;
  const auto parsed = asio::ip::make_address(address, failure);
  if (failure) return std::nullopt;
  return parsed.is_loopback();
}

Result<std::unique_ptr<WebServer>> listen_web(const WebOptions& options) {
  keep_little_freed_memory(2, 256 * 1024);
  TS_TRY(std::string token, make_token());
  auto server = std::make_unique<Server>(options, std::move(token));
  TS_CHECK_OK(server->listen(options.port));
  return std::unique_ptr<WebServer>(std::move(server));
}

}  // namespace trainscope
