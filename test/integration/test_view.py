"""view: it answers its owner alone, whatever is sent, and what it answers is what the commands print."""
import datetime
import json
import os
import pathlib
import select
import signal
import subprocess
import time

from trainscope_test import BIN, PATIENCE_S, Case, end, main, wait_until
from web_view import View

STEPS = """
    import time
    for k in range(1, 31):
        end = time.process_time() + 0.004
        while time.process_time() < end: sum(range(500))
        time.sleep(0.02)
        print(f"step {k} loss {1 / k:.4f}", flush=True)
"""
UNTIL_INPUT = """
    import select, sys
    k = 0
    while not select.select([sys.stdin], [], [], 0.05)[0]:
        k += 1
        print(f"step {k} loss {1 / k:.4f}", flush=True)
"""
HOSTILE = '</script><img src=x onerror=alert(1)>"\'&\\\u202e'
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
                               "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer"}


class Printed(Case):
    """What the command prints, and how it ends."""

    def test_one_line_with_the_address_and_nothing_else(self):
        view = View(self)
        self.assertEqual((view.url.scheme, view.url.hostname, view.url.path, view.url.fragment), ("http", "127.0.0.1", "/", ""))
        self.assertGreaterEqual(len(view.token) * 4, 128)
        view.process.send_signal(signal.SIGINT)
        self.assertEqual(view.process.stdout.read(), b"")
        code, errors = view.close()
        self.assertEqual(code, 0)
        self.assertNotIn(view.token, errors)
        self.assertNotIn("ssh", errors)

    def test_sigterm_ends_it_too_while_pages_are_connected(self):
        view = View(self)
        idle = view.connect()
        self.assertEqual(view.close(signal.SIGTERM)[0], 0)
        idle.close()

    def test_two_servers_have_different_tokens_and_the_token_is_no_argument(self):
        one, other = View(self), View(self)
        self.assertNotEqual(one.token, other.token)
        words = pathlib.Path(f"/proc/{one.process.pid}/cmdline").read_bytes()
        self.assertNotIn(one.token.encode(), words)

    def test_runs_are_named_in_the_fragment(self):
        for name in ("first", "second", "third", "fourth"):
            self.record(["true"], "--name", name)
        first, second, third, fourth = (r["id"] for r in json.loads(self.trainscope("list", "--json").stdout)["runs"])
        for words, fragment in ((["first"], f"/run/{first}"), (["first", "second"], f"/compare?a={first}&b={second}"),
                                (["f*"], f"/compare?a={first}&b={fourth}"), (["first", "first"], f"/run/{first}"),
                                # Runs of different arguments are not repeats of each other.
                                (["first", "second", "third"], f"/compare?a={first}&b={second}&more={third}"),
                                (["f*", "second,third"], f"/compare?a={first},{fourth}&b={second},{third}")):
            view = View(self, *words)
            self.assertEqual(view.url.fragment, fragment)
            view.close()

    def test_a_run_outside_the_home_is_served_by_its_id(self):
        self.record(STEPS, "--name", "elsewhere")
        path = self.info()["run"]["path"]
        outside = self.path("outside")
        os.mkdir(outside)
        moved = os.path.join(outside, os.path.basename(path))
        os.rename(path, moved)
        view = View(self, moved)
        run = view.url.fragment.removeprefix("/run/")
        self.assertEqual(view.json(f"/api/run/{run}")["run"]["name"], "elsewhere")
        self.assertEqual(view.json("/api/runs")["runs"], [])

    def test_json_is_one_document(self):
        view = subprocess.Popen([BIN, "view", "--json"], env=self.environment(), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(end, view)
        text = b""
        while not text.endswith(b"}\n"):
            text += view.stdout.readline()
        document = json.loads(text)
        self.assertEqual(document["schema"], "trainscope.view/1")
        self.assertIn(document["token"], document["url"])
        self.assertIn(f":{document['port']}/", document["url"])

    def test_over_ssh_the_tunnel_is_printed(self):
        view = View(self, SSH_CONNECTION="192.0.2.7 50000 192.0.2.1 22", USER="ada")
        errors = view.close()[1]
        self.assertIn(f"ssh -N -L {view.port}:127.0.0.1:{view.port} ada@192.0.2.1", errors)

    def test_wrong_arguments_are_refused(self):
        taken = View(self)
        for words, expected in ((["--port", "x"], "not a port"), (["--port", "65536"], "not a port"), (["--port", "-1"], "not a port"),
                                (["--listen", "0.0.0.0"], "--insecure"), (["--listen", "::"], "--insecure"),
                                (["--listen", "example.org"], "not an address"), (["no-such-run"], "no-such-run"),
                                (["--port", str(taken.port)], "--port")):
            done = self.trainscope("view", *words, check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn(expected, done.stderr.decode())
            self.assertEqual(done.stdout, b"")

    def test_elsewhere_it_needs_the_flag_and_still_the_token_and_the_name(self):
        view = View(self, "--listen", "0.0.0.0", "--insecure")
        self.assertEqual(view.status("/api/runs"), 200)
        self.assertEqual(view.status("/api/runs", cookie=False), 401)
        self.assertEqual(view.status("/api/runs", host=f"evil.example:{view.port}"), 403)
        self.assertEqual(view.status("/api/runs", host=f"192.0.2.1:{view.port}"), 200)


class Hostile(Case):
    """Requests that are not its owner's."""

    def setUp(self):
        super().setUp()
        self.record(STEPS, "--name", "shown")
        self.run_id = self.info()["run"]["id"]
        self.view = View(self)

    def test_every_page_refuses_every_stranger(self):
        run = f"/api/run/{self.run_id}"
        paths = ["/api/runs", f"/api/rows?runs={self.run_id}", run, run + "/diagnosis", run + "/info", run + "/columns?series=0",
                 run + "/steps", run + "/marks", run + "/output", run + "/live", run + "/files", run + "/file/0",
                 f"/api/compare?a={self.run_id}&b={self.run_id}", f"/api/compare/distribution?runs={self.run_id}", "/api/", "/api"]
        port, wrong = self.view.port, "A" * len(self.view.token)
        for path in paths:
            def status(cookie=True, path=path, **keywords):
                return self.view.status(path, cookie=cookie, **keywords)
            self.assertEqual(status(cookie=False), 401, path)
            more = "&" if "?" in path else "?"
            self.assertEqual(status(cookie=False, path=f"{path}{more}token={wrong}"), 401, path)
            self.assertEqual(status(cookie=False, headers=[("Cookie", f"trainscope-{port}={wrong}")]), 401, path)
            self.assertEqual(status(cookie=False, headers=[("Cookie", f"trainscope-{port + 1}={self.view.token}")]), 401, path)
            for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", "localhost:1", f"127.0.0.1:{port}.evil.example",
                         f"0x7f.1:{port}", "", False):
                self.assertIn(status(host=host if host != "" else " "), (400, 403), (path, host))
            for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "get"):
                self.assertEqual(status(method=method), 405, (path, method))
            for headers in ([("Origin", "http://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")]):
                self.assertEqual(status(headers=headers), 403, (path, headers))

    def test_every_answer_has_the_headers_and_none_of_cors(self):
        for path, cookie, expected in (("/", False, 200), ("/api/runs", True, 200), ("/api/runs", False, 401), ("/no", True, 404),
                                       ("/api/run/x/columns", True, 400), (f"/?token={self.view.token}", False, 303)):
            status, headers, _ = self.view.request(path, cookie=cookie, headers=[])
            self.assertEqual(status, expected, path)
            for name, value in HEADERS.items():
                self.assertEqual(headers.get(name), value, path)
            self.assertFalse([name for name in headers if name.lower().startswith("access-control")])
            if path != "/":
                self.assertEqual(headers.get("Cache-Control"), "no-store", path)

    def test_the_first_visit_takes_the_token_out_of_the_address(self):
        status, headers, _ = self.view.request(f"/?token={self.view.token}", cookie=False)
        self.assertEqual((status, headers["Location"]), (303, "/"))
        self.assertEqual(headers["Set-Cookie"], f"{self.view.cookie}; HttpOnly; SameSite=Strict; Path=/")
        status, headers, _ = self.view.request("/?token=wrong", cookie=False)
        self.assertEqual(status, 401)
        self.assertNotIn("Set-Cookie", headers)

    def test_no_path_leads_out_of_the_home(self):
        secret = self.path("secret")
        pathlib.Path(secret).write_text("secret")
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../app.js", "/assets/..%2fapp.js", "//etc/passwd",
                     "/etc/passwd", "/api/run/..", "/api/run/../info", f"/api/run/{self.run_id}/../../x", "/api/run/%2e%2e/info",
                     f"/api/run/..%2f..%2f{os.path.basename(secret)}/info", "/api/run/./info", "/api/run/latest/info",
                     "/api/run/shown/info", f"/api/run/{self.run_id[:6]}/info", f"/api/run/{self.run_id}/file/-1",
                     f"/api/run/{self.run_id}/file/99", f"/api/run/{self.run_id}/file/0001", "/api/run/" + "a" * 64 + "/info"):
            status, _, content = self.view.request(path)
            self.assertIn(status, (400, 404), path)
            self.assertNotIn(b"root:", content)
        for path in (f"/api/rows?runs=../{self.run_id}", f"/api/compare?a=/etc/passwd&b={self.run_id}", "/api/compare?a=a.b&b=c",
                     f"/api/compare/distribution?runs={self.run_id}/..", f"/api/run/{self.run_id}/columns",
                     f"/api/run/{self.run_id}/columns?series=", f"/api/run/{self.run_id}/columns?series=-1",
                     f"/api/run/{self.run_id}/columns?series=99999999", f"/api/run/{self.run_id}/columns?series=0&from=nan",
                     f"/api/run/{self.run_id}/columns?series=0&from=2&to=1", f"/api/run/{self.run_id}/columns?series=0&points=1e9",
                     f"/api/run/{self.run_id}/columns?series=0&points=1", f"/api/run/{self.run_id}/columns?series=0&smooth=-1",
                     f"/api/run/{self.run_id}/columns?series={','.join(['0'] * 65)}", f"/api/run/{self.run_id}/steps?points=1",
                     f"/api/run/{self.run_id}/output?lines=1001", f"/api/run/{self.run_id}/output?at=x", "/api/runs?a=%",
                     "/api/runs?a=%00", "/api/runs?a=1&a=2", f"/api/rows?runs={','.join([self.run_id] * 65)}"):
            self.assertEqual(self.view.status(path), 400, path)

    def raw(self, data, wait=True):
        """What comes back for these bytes."""
        connection = self.view.connect()
        connection.sendall(data)
        reply = b""
        while wait and (part := connection.recv(65536)):
            reply += part
        connection.close()
        return reply

    def test_malformed_and_oversized_requests_are_refused(self):
        host = f"Host: 127.0.0.1:{self.view.port}\r\n".encode()
        self.assertIn(b" 431 ", self.raw(b"GET / HTTP/1.1\r\n" + host + b"X: " + b"a" * 20_000 + b"\r\n\r\n").split(b"\r\n")[0])
        self.assertIn(b" 431 ", self.raw(b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n" + host + b"\r\n").split(b"\r\n")[0])
        self.assertIn(b" 400 ", self.raw(b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\n" + host + b"Connection: close\r\n\r\n").split(b"\r\n")[0])
        self.assertIn(b" 413 ", self.raw(b"POST / HTTP/1.1\r\n" + host + b"Content-Length: 99999999\r\n\r\n").split(b"\r\n")[0])
        chunked = self.raw(b"GET / HTTP/1.1\r\n" + host + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
        self.assertIn(chunked.split(b"\r\n")[0].split()[1], (b"400", b"413"))
        for bad in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(300), b"GET / HTTP/9.9\r\n\r\n", b"\r\n\r\n\0\0\0\r\n\r\n",
                    b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost 127.0.0.1\r\n\r\n", bytes(range(256)) + b"\r\n\r\n"):
            first = self.raw(bad).split(b"\r\n")[0]
            self.assertTrue(first == b"" or b" 400 " in first, (bad, first))
        two = self.raw(b"GET /api/runs HTTP/1.1\r\n" + host + b"Host: evil.example\r\nConnection: close\r\n\r\n")
        self.assertIn(two.split(b"\r\n")[0].split()[1], (b"400", b"403"))
        self.assertEqual(self.view.status("/api/runs"), 200, "the others are served still")

    def test_half_open_sockets_are_closed_and_delay_nobody(self):
        slow = [self.view.connect() for _ in range(200)]
        for at, connection in enumerate(slow):
            connection.sendall(b"GET / HT" if at % 2 else b"")
        self.assertEqual(self.view.status("/api/runs"), 200)
        for connection in slow:  # ends when the server has closed it
            self.assertEqual(connection.recv(1), b"")
            connection.close()

    def test_beyond_256_connections_the_others_are_told_so(self):
        held = [self.view.connect() for _ in range(300)]
        answers = 0
        ready, _, _ = select.select(held, [], [], PATIENCE_S)
        while answers < 44:
            for connection in ready:
                reply = connection.recv(4096)
                if reply:
                    self.assertTrue(reply.startswith(b"HTTP/1.1 429 "), reply)
                    answers += 1
                held.remove(connection)
                connection.close()
            ready, _, _ = select.select(held, [], [], PATIENCE_S)
            self.assertTrue(ready, f"only {answers} were refused")
        for connection in held:
            connection.close()
        wait_until(lambda: self.view.status("/api/runs") == 200)

    def test_head_has_no_body(self):
        status, headers, content = self.view.request("/api/runs", method="HEAD")
        self.assertEqual((status, content), (200, b""))
        self.assertGreater(int(headers["Content-Length"]), 10)
        self.assertEqual(self.view.request("/", method="HEAD")[2], b"")

    def test_the_page_is_cached_by_its_tag(self):
        for path in ("/", "/assets/app.js", "/assets/app.css"):
            status, headers, content = self.view.request(path, cookie=False)
            self.assertEqual(status, 200)
            status, _, again = self.view.request(path, cookie=False, headers=[("If-None-Match", headers["ETag"])])
            self.assertEqual((status, again), (304, b""))
        status, headers, content = self.view.request("/", cookie=False)
        self.assertTrue(headers["Content-Type"].startswith("text/html"))
        self.assertIn(b"<html", content)


class HostileRuns(Case):
    """Runs whose names and values are hostile, and runs that cannot be read."""

    def test_names_and_values_are_data(self):
        work = self.path("work")
        os.mkdir(work)
        job = f"""
            import os
            print({HOSTILE!r})
            with open(os.environ["TRAINSCOPE_PIPE"], "w") as pipe:
                for k in range(1, 6):
                    pipe.write(f"step {{k}} loss={{'nan' if k == 3 else 1e308 * k}}\\n"); pipe.flush()
                pipe.write("mark </script><b>\\n")
            open("x.html", "w").write("<script>alert(1)</script>")
            open("</script>.png", "wb").write(b"\\x89PNG\\r\\n\\x1a\\n" + bytes(50)) if False else None
        """
        self.record(job, "--name", "hostile", "--tag", f"t={HOSTILE}", "--keep", "x.html", cwd=work)
        self.trainscope("edit", "latest", "--note", HOSTILE)
        view = View(self)
        listed = view.json("/api/runs")["runs"][0]
        self.assertEqual((listed["note"], listed["tags"]["t"]), (HOSTILE, HOSTILE))
        run = f"/api/run/{listed['id']}"
        for path in ("", "/info", "/marks", "/output", "/files", "/diagnosis"):
            status, headers, content = view.request(run + path)
            self.assertEqual((status, headers["Content-Type"]), (200, "application/json"), (path, content))
            self.assertNotIn(b"NaN", content)
            json.loads(content)
        self.assertIn("onerror", "".join(line["text"] for line in view.json(run + "/output")["lines"]))
        status, headers, content = view.request(run + "/file/0")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain"))
        self.assertIn("attachment", headers["Content-Disposition"])
        self.assertEqual(content, b"<script>alert(1)</script>")
        info = view.json(run + "/info")
        numbers = [i for i, m in enumerate(info["metrics"]) if m["name"].startswith("train.") and m["status"] == "ok"]
        for column in view.columns(f"{run}/columns?series={','.join(map(str, numbers))}&points=100")["columns"]:
            self.assertTrue(all(abs(x) < float("inf") for name in column["arrays"] for x in column[name]), column["name"])

    def test_a_damaged_run_stops_nothing(self):
        self.record(STEPS, "--name", "good")
        self.record(STEPS, "--name", "bad")
        path = self.info("bad")["run"]["path"]
        for name in os.listdir(path):
            if name.endswith(".seg") or name in ("manifest.json", "tail"):
                pathlib.Path(path, name).write_bytes(os.urandom(5000))
        view = View(self)
        runs = view.json("/api/runs")["runs"]
        self.assertEqual(len(runs), 2)
        bad = next(r["id"] for r in runs if r["status"] == "damaged")
        good = next(r["id"] for r in runs if r["status"] == "ended")
        for path in ("/info", "/columns?series=0", "/marks", "/diagnosis", "/steps", "/output"):
            status, _, content = view.request(f"/api/run/{bad}{path}")
            self.assertIn(status, (404, 500), path)
            self.assertTrue(json.loads(content)["error"])
            self.assertEqual(view.status(f"/api/run/{good}{path}"), 200, path)
        rows = view.json(f"/api/rows?runs={good},{bad}")["rows"]
        self.assertEqual([row["id"] for row in rows], [good, bad])
        self.assertIsNone(rows[1]["loss"])
        self.assertTrue(rows[0]["loss"])


class Answers(Case):
    """What is served is what the commands print."""

    def record_step_times(self, *options):
        """Steps whose times are known: on a busy machine lines may be read together, and then they are not."""
        for _ in range(20):
            self.record(STEPS, *options)
            if self.info()["steps"]["p50_s"] is not None:
                return
            self.trainscope("rm", "latest", "--yes")
        self.fail("no run has step times")

    def same(self, view, path, *words):
        self.assertEqual(view.json(path), json.loads(self.trainscope(*words).stdout), path)

    def test_documents_are_those_of_the_commands(self):
        for name in ("a", "b"):
            self.record_step_times("--name", name, "--every", "10ms")
        view = View(self)
        a, b = (r["id"] for r in view.json("/api/runs")["runs"])
        self.same(view, "/api/runs", "list", "--json")
        self.same(view, f"/api/run/{a}/info", "info", a, "--json")
        self.same(view, f"/api/compare?a={a}&b={b}", "compare", a, b, "--json", "--explain")
        diagnosis = view.json(f"/api/run/{a}/diagnosis")
        self.assertTrue(diagnosis.pop("sentence"))
        headline = diagnosis.pop("headline")
        self.assertEqual(diagnosis, json.loads(self.trainscope("diagnose", a, "--json").stdout))
        self.assertIn(headline, self.trainscope("diagnose", a).stdout.decode())
        head = view.json(f"/api/run/{a}")
        self.assertEqual((head["run"]["id"], head["run"]["name"], head["run"]["exit_code"]), (a, "a", 0))
        stored = {key: value for key, value in (diagnosis["stored"] or {}).items() if key != "differs"}
        self.assertEqual(head["verdict"] or {}, stored)
        rows = view.json(f"/api/rows?runs={a},{b}")["rows"]
        self.assertEqual([row["id"] for row in rows], [a, b])
        self.assertGreater(rows[0]["steps_per_s"], 0)
        self.assertEqual((rows[0]["steps"], rows[0]["duration_s"]), (30, self.info("a")["run"]["duration_s"]))
        self.assertEqual(view.json("/api/runs")["runs"][0]["host"], self.info("a")["host"]["name"])
        # Means over 60 parts of the time: on a busy machine several steps are in one.
        losses = rows[0]["loss"]
        self.assertTrue(0.0333 <= losses[-1] <= losses[0] <= 1 and 1 <= len(losses) <= 60, losses)
        self.assertEqual(losses, sorted(losses, reverse=True))

    def test_what_is_edited_and_removed_is_seen(self):
        self.record(STEPS, "--name", "a")
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        self.assertEqual(view.json(f"/api/run/{run}/info")["run"]["name"], "a")
        self.trainscope("edit", run, "--name", "b", "--note", "better")
        self.same(view, f"/api/run/{run}/info", "info", run, "--json")
        self.assertEqual(view.json(f"/api/run/{run}/info")["run"]["note"], "better")
        self.trainscope("rm", run, "--yes")
        self.assertEqual(view.status(f"/api/run/{run}/info"), 404)
        self.assertEqual(view.status(f"/api/run/{run}/columns?series=0"), 404)
        self.assertEqual(view.json("/api/runs")["runs"], [])

    def test_the_list_is_sent_and_read_again_only_if_it_changed(self):
        for name in ("a", "b"):
            self.record(["true"], "--name", name)
        view = View(self)

        def ask(tag=None):
            status, headers, content = view.request("/api/runs", headers=[("If-None-Match", tag)] if tag else [])
            return status, headers["ETag"], [run["name"] for run in json.loads(content)["runs"]] if content else None
        status, tag, names = ask()
        self.assertEqual((status, names), (200, ["a", "b"]))
        self.assertEqual(ask(tag), (304, tag, None))
        # Changed where it is, which nothing does to a manifest: who does not read it again does not see it.
        manifest = pathlib.Path(self.info("b")["run"]["path"], "manifest.json")
        before = manifest.stat()
        text = manifest.read_text()
        manifest.write_text(text.replace('"name": "b"', '"name": "c"').replace('"name":"b"', '"name":"c"'))
        self.assertNotEqual(manifest.read_text(), text)
        os.utime(manifest, ns=(before.st_atime_ns, before.st_mtime_ns))
        self.assertEqual(ask(tag), (304, tag, None))
        self.trainscope("edit", "a", "--name", "d")
        status, newer, names = ask(tag)
        self.assertEqual((status, names), (200, ["d", "b"]))
        self.assertNotEqual(newer, tag)
        self.record(["true"], "--name", "e")
        self.assertEqual(ask(newer)[2], ["d", "b", "e"])
        manifest.write_text(text)
        self.same(view, "/api/runs", "list", "--json")

    def test_steps_marks_output_and_distribution(self):
        self.record_step_times("--every", "10ms")
        view = View(self)
        info = self.info()
        run = "/api/run/" + info["run"]["id"]
        steps = view.columns(run + "/steps?points=100")["columns"][0]
        expected = [(float(t), float(v)) for t, v in self.series("train.step", "source=output")]
        self.assertEqual([(round(t, 6), value) for t, value in zip(steps["time"], steps["value"])], expected)
        marks = view.json(run + "/marks")
        self.assertEqual(marks["gaps"], info["sampling"]["gaps"])
        self.assertEqual(len(marks["pauses"]), len(info["pauses"]))
        output = view.json(f"{run}/output?at={steps['time'][14]}&lines=9")
        self.assertEqual(output["lines"][output["at"]]["text"], "step 15 loss 0.0667")
        self.assertEqual((len(output["lines"]), output["times"], output["more_before"]), (9, "read", True))
        self.assertEqual((round(output["within_s"], 9), output["late"]), (0.1, None))
        # A run of an earlier version.
        os.remove(os.path.join(info["run"]["path"], "output.times"))
        older = View(self).json(f"{run}/output?at={steps['time'][14]}&lines=9")
        self.assertEqual((older["lines"][older["at"]]["text"], older["times"]), ("step 15 loss 0.0667", "estimated"))
        found = view.json(f"/api/compare/distribution?runs={info['run']['id']}")["runs"][0]
        self.assertEqual(len(found["quantiles"]), 101)
        self.assertEqual(found["quantiles"], sorted(found["quantiles"]))
        # Of few steps, which differ on a busy machine: the median is among those in the middle.
        self.assert_between(found["quantiles"][40], info["steps"]["p50_s"], found["quantiles"][60], "p50_s")

    def test_of_very_many_gaps_the_longest_are_served_and_the_others_counted(self):
        """2,100 gaps of three seconds, and one of four at the end."""
        begin = datetime.datetime(2023, 4, 3, 12)
        seconds = [5 * k + each for k in range(2101) for each in (0, 1)] + [5 * 2100 + 6]
        lines = [f"{begin + datetime.timedelta(seconds=s):%m-%d-%Y %H:%M:%S} RAM 5123/30536MB (lfb 4x4MB)" for s in seconds]
        log = pathlib.Path(self.folder) / "tegrastats.log"
        log.write_text("\n".join(lines) + "\n")
        self.trainscope("import", "--from", "tegrastats", "--every", "1s", log)
        sampling = self.info()["sampling"]
        self.assertEqual((len(sampling["gaps"]), sampling["left_out_gaps"]), (2101, 0))
        view = View(self)
        run = "/api/run/" + self.info()["run"]["id"]
        for served in (view.json(run + "/info")["sampling"], view.json(run + "/marks")):
            self.assertEqual((len(served["gaps"]), served["left_out_gaps"]), (2000, 101))
            self.assertEqual(served["gaps"][-1], sampling["gaps"][-1])
        self.assertEqual(view.json(run + "/info")["sampling"]["missed"], sampling["missed"])

    def rates(self, samples):
        """(time of the middle, rate) between each two samples of a counter."""
        return [((t + u) / 2, (b - a) / (u - t)) for (t, a), (u, b) in zip(samples, samples[1:]) if b >= a]

    def test_columns_keep_every_sample_and_every_spike(self):
        self.record(STEPS, "--every", "5ms")
        view = View(self)
        info = self.info()
        run = "/api/run/" + info["run"]["id"]
        wanted = {"system.cpu.time": "cpu=all;state=user", "job.cpu.time": "mode=user", "job.memory.usage": "",
                  "recorder.lateness": "process=recorder", "job.cpu.utilization": ""}
        for name, labels in wanted.items():
            number = next(i for i, m in enumerate(info["metrics"])
                          if m["name"] == name and ";".join(f"{k}={v}" for k, v in sorted((m["labels"] or {}).items())) == labels)
            samples = self.series(name, labels)
            values = self.rates if info["metrics"][number]["kind"] == "counter" else list
            truth = values(samples)
            raw = view.columns(f"{run}/columns?series={number}&points=4000")
            self.assertIsNone(raw["window_s"])
            column = raw["columns"][0]
            self.assertEqual(column["reading"], "rate" if info["metrics"][number]["kind"] == "counter" else "level")
            within = [(t, v) for t, v in truth if t <= raw["to_s"]]
            self.assertEqual(len(column["time"]), len(within), name)
            for t, v, (true_t, true_v) in zip(column["time"], column["value"], within):
                self.assertAlmostEqual(t, true_t, delta=1e-6)
                self.assertAlmostEqual(v, true_v, delta=1e-6 * max(1, abs(true_v)))
            for query in ("points=7", f"points=3&from=0.1&to={info['run']['duration_s'] / 2}"):
                found = view.columns(f"{run}/columns?series={number}&{query}")
                # A rate over the edge of the range is not within it.
                inside = [(t, v) for t, v in samples if found["from_s"] <= t <= found["to_s"]]
                self.check_windows(found, values(inside), name)

    def check_windows(self, found, truth, name):
        width, column = found["window_s"], found["columns"][0]
        self.assertGreater(width, 0)
        windows = {round((t - found["from_s"]) / width - 0.5): at for at, t in enumerate(column["time"])}
        seen = {}
        for t, value in truth:
            place = int((t - found["from_s"]) / width)
            if abs((t - found["from_s"]) / width - round((t - found["from_s"]) / width)) < 1e-6:
                continue  # on the edge of two windows
            at = windows[place]
            slack = 1e-6 * max(1, abs(value))
            self.assertTrue(column["min"][at] - slack <= value <= column["max"][at] + slack, (name, t, value))
            seen.setdefault(at, []).append(value)
        for at, values in seen.items():
            self.assertTrue(column["min"][at] <= column["mean"][at] <= column["max"][at])
        self.assertAlmostEqual(max(column["max"]), max(v for _, v in truth),
                               delta=1e-6 * max(1, max(column["max"])))

    def test_many_requests_leave_the_memory_as_it_is(self):
        self.record(STEPS, "--every", "5ms")
        view = View(self)
        info = self.info()
        run = "/api/run/" + info["run"]["id"]
        present = [i for i, m in enumerate(info["metrics"]) if m["status"] == "ok"]

        def ask_all():
            for at in range(0, len(present), 16):
                view.columns(f"{run}/columns?series={','.join(map(str, present[at:at + 16]))}&points=500&smooth=0.5")
            view.json(run + "/info")
        ask_all()
        before = view.memory_bytes()
        for _ in range(15):
            ask_all()
        self.assertLess(view.memory_bytes(), before + (16 << 20))


class Live(Case):
    """A run that is being recorded."""

    def test_events_tell_how_far_it_is_until_it_ends(self):
        job = self.start(UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        events = view.events(run)
        name, first = next(events)
        self.assertEqual((name, first["status"]), ("now", "running"))
        # A busy machine may tell of steps before there are samples.
        name, second = next((name, now) for name, now in events if name != "now" or now["samples"] >= first["samples"] + 3)
        self.assertEqual(name, "now")
        self.assertGreater(second["duration_s"], first["duration_s"])
        info = view.json(f"/api/run/{run}/info")
        number = next(i for i, m in enumerate(info["metrics"]) if m["name"] == "system.cpu.time" and m["labels"]["cpu"] == "all")
        found = view.columns(f"/api/run/{run}/columns?series={number}&points=4000&from={first['duration_s']}")
        self.assertGreater(found["columns"][0]["count"], 0)
        self.assertEqual(found["status"], "running")
        loss = next(i for i, m in enumerate(info["metrics"]) if m["name"] == "train.loss")
        wait_until(lambda: view.columns(f"/api/run/{run}/columns?series={loss}")["columns"][0]["count"] > 0)
        job.stdin.close()
        *_, (name, last) = events
        self.assertEqual((name, last["status"], last["recorder_gone"]), ("ended", "ended", False))
        self.assertEqual(last["samples"], self.info()["sampling"]["samples"])
        self.assertEqual([name for name, _ in view.events(run)], ["ended"], "an ended run has one event")

    def test_what_is_asked_at_the_end_is_of_the_whole_run(self):
        self.check_what_is_asked_at_the_end()

    def test_what_is_asked_at_the_end_is_of_the_whole_run_although_its_manifest_was_replaced_since(self):
        """As it is while the end is read."""
        self.check_what_is_asked_at_the_end(lambda run: self.trainscope("edit", run, "--note", "replaced"))

    def check_what_is_asked_at_the_end(self, meanwhile=lambda run: None):
        job = """
            import os, select, sys
            pipe = os.open(os.environ["TRAINSCOPE_PIPE"], os.O_WRONLY)
            os.write(pipe, b"step 1\\n")
            while not select.select([sys.stdin], [], [], 0.02)[0]: pass
            os.write(pipe, b"step 2\\n")
        """
        process = self.start(job, "--every", "20ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        events = view.events(run)
        self.assertEqual(next(events)[0], "now")
        # The run is read for the documents between two events, the second of which tells of the end: when they are asked for
        # again, it was read less than a second before, from when on it is usually too new to be read once more.
        half = time.monotonic() + 0.5
        wait_until(lambda: time.monotonic() > half)
        view.json(f"/api/run/{run}/info")
        process.stdin.close()
        *_, (name, _) = events
        self.assertEqual(name, "ended")
        meanwhile(run)
        at_end = view.json(f"/api/run/{run}/info")
        self.assertEqual((at_end["run"]["status"], at_end["steps"]["count"]), ("ended", 2))
        self.assertEqual(at_end["sampling"]["samples"], self.info()["sampling"]["samples"])

    def test_the_row_of_a_run_that_has_just_ended_is_of_all_of_it(self):
        job = self.start(UNTIL_INPUT, "--every", "10ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        row = f"/api/rows?runs={run}"
        live = view.json(row)["rows"][0]  # it is kept for a second at least
        job.stdin.close()
        wait_until(lambda: view.json("/api/runs")["runs"][0]["status"] == "ended")
        last, info = view.json(row)["rows"][0], self.info()
        self.assertEqual((last["duration_s"], last["steps"]), (info["run"]["duration_s"], info["steps"]["count"]))
        self.assertGreater(last["duration_s"], live["duration_s"])

    def test_64_pages_follow_one_run_with_one_reader(self):
        job = self.start(UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        followers = [view.events(run) for _ in range(64)]
        for events in followers:
            self.assertEqual(next(events)[0], "now")
        self.assertEqual(view.status("/api/runs"), 200)
        job.stdin.close()
        for events in followers:
            *_, (name, last) = events
            self.assertEqual((name, last["status"]), ("ended", "ended"))

    def test_a_recorder_that_is_gone_is_told(self):
        job = self.start(UNTIL_INPUT, "--every", "20ms", stdin=subprocess.PIPE)
        self.wait_for_samples(5)
        view = View(self)
        run = view.json("/api/runs")["runs"][0]["id"]
        events = view.events(run)
        self.assertEqual(next(events)[0], "now")
        recorder = self.recorder()
        os.kill(job.pid, signal.SIGKILL)
        os.kill(recorder, signal.SIGKILL)
        job.wait()
        job.stdin.close()  # ends the job: while it has the run's pipe open, the run counts as running
        *_, (name, last) = events
        self.assertEqual((name, last["recorder_gone"]), ("ended", True))


if __name__ == "__main__":
    main()
