"""What the parts that measure pages share: node and Chromium, and the plain pages that Trainscope's are compared with."""
import contextlib
import functools
import http.server
import json
import pathlib
import subprocess
import threading
import urllib.parse

from harness import ROOT, has, say

HERE = ROOT / "bench/web"
ECHARTS = "echarts@6.1.0"
MOST_S = 3600
UPLOT = ROOT / "web/node_modules/uplot/dist"
FETCH_S = 120
PAGE = """<!doctype html>
<meta charset="utf-8">
<title>plain</title>
<style>body {{ margin: 16px; }} .chart {{ width: 674px; height: 120px; margin-bottom: 34px; }} {style}</style>
<script>{library}</script>
<script type="module">{script}</script>
"""


def find_node():
    """The node that scripts/build-web installs, or None if there is none or no Chromium."""
    if not has("chromium"):
        say("  skipped: chromium is not installed; run scripts/install-deps test")
        return None
    done = subprocess.run([ROOT / "scripts/build-web", "--node"], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        say(f"  skipped: {done.stdout.strip() or 'scripts/build-web --node failed'}")
        return None
    return pathlib.Path(done.stdout.strip())


def fetch_echarts(node, folder):
    """The source of ECharts, fetched into a folder, or None."""
    npm = node.parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    with contextlib.suppress(subprocess.SubprocessError, OSError):
        subprocess.run([node, npm, "install", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error",
                        ECHARTS], check=True, timeout=FETCH_S, capture_output=True, cwd=folder)
        return (pathlib.Path(folder) / "node_modules/echarts/dist/echarts.min.js").read_text()
    say(f"  {ECHARTS} cannot be fetched: it is not compared with")
    return None


def write_plain_pages(site, echarts):
    """uplot.html and, if its source is given, echarts.html; the names of the pages."""
    script = (HERE / "plain.js").read_text()
    libraries = {"uplot": ((UPLOT / "uPlot.iife.min.js").read_text(), (UPLOT / "uPlot.min.css").read_text())}
    if echarts:
        libraries["echarts"] = (echarts.replace("</script", "<\\/script"), "")
    for name, (library, style) in libraries.items():
        (pathlib.Path(site) / f"{name}.html").write_text(PAGE.format(style=style, library=library, script=script))
    return list(libraries)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(site):
    """Serves a folder; the address."""
    handler = functools.partial(QuietHandler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def origin(address):
    url = urllib.parse.urlsplit(address)
    return f"{url.scheme}://{url.netloc}"


def cookies(address):
    """What signs a page in at `trainscope view`."""
    url = urllib.parse.urlsplit(address)
    token = urllib.parse.parse_qs(url.query)["token"][0]
    return [{"name": f"trainscope-{url.port}", "value": token, "url": origin(address)}]


def measure(node, kind, wanted, each_point=None):
    """Runs measure.mjs; each_point is called whenever it has measured the pages once."""
    process = subprocess.Popen([node, HERE / "measure.mjs", kind, json.dumps(wanted)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    # A browser that hangs must not hold the other parts: killed, it fails like any other.
    limit = threading.Timer(MOST_S, process.kill)
    limit.daemon = True
    limit.start()
    with process:
        reader = threading.Thread(target=follow, args=(process.stderr, each_point), daemon=True)
        reader.start()
        out = process.stdout.read()
        reader.join()
    limit.cancel()
    if process.returncode != 0:
        raise SystemExit(f"bench: measure.mjs {kind} failed")
    return json.loads(out)


def follow(lines, each_point):
    for line in lines:
        if line.strip() == "now" and each_point:
            each_point()
        else:
            say(f"  {line.rstrip()}")
