"""A small HTTP server that answers as a script says, over real sockets."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Script:
    """What to answer to one request after the other, and what was asked.

    An answer is (status, body, headers); None closes the connection without one.  The last answer
    is given to all later requests.
    """

    def __init__(self, *answers):
        self.answers, self.asked, self.url = list(answers), [], ""

    def next(self):
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def scripted(*answers):
    """A server with a script; `script.asked` has (method, path, headers, body)."""
    script = Script(*answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            script.asked.append((self.command, self.path, dict(self.headers), body))
            answer = script.next()
            self.close_connection = answer is None
            if answer is None:
                return
            status, reply, headers = (*answer, {})[:3]
            data = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        script.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
