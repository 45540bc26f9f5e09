"""`make install` puts the program where PREFIX and DESTDIR say, with completions and a man page when it has them."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BIN = os.environ.get("TRAINSCOPE_BIN", "build/trainscope")
ROOT = pathlib.Path(__file__).resolve().parents[2]
COMPLETIONS = {
    "bash": "share/bash-completion/completions/trainscope",
    "zsh": "share/zsh/site-functions/_trainscope",
    "fish": "share/fish/vendor_completions.d/trainscope.fish",
}


def says(*words):
    """Whether the program answers these words with text on stdout."""
    done = subprocess.run([BIN, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=30)
    return done.returncode == 0 and bool(done.stdout.strip())


def main():
    with tempfile.TemporaryDirectory() as destdir:
        subprocess.run([ROOT / "scripts/install", destdir, "/opt/here"], check=True, capture_output=True,
                       env={**os.environ, "TRAINSCOPE_BIN": BIN})
        top = pathlib.Path(destdir, "opt/here")
        assert os.listdir(destdir) == ["opt"], os.listdir(destdir)
        version = subprocess.run([top / "bin/trainscope", "--version"], check=True, capture_output=True, text=True)
        assert version.stdout.startswith("trainscope "), version.stdout
        for shell, path in COMPLETIONS.items():
            expected = says("completion", shell)
            assert (top / path).exists() == expected, f"completion for {shell}: expected {expected}"
        page = top / "share/man/man1/trainscope.1"
        if says("--help") and shutil.which("help2man"):
            assert page.read_text().startswith((".\\\" DO NOT MODIFY", ".TH")), page
        else:
            assert not page.exists()
    return 0


sys.exit(main())
