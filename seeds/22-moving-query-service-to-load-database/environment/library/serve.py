"""A small read-only service: the records of store.json over HTTP, on the loopback interface."""

import json
import os
import socketserver
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "store.json"), encoding="utf-8") as file:
    STORE = json.load(file)


class Handler(BaseHTTPRequestHandler):
    """Answers GET requests."""

    asked = 0

    def do_GET(self):
        """The records, a page of them, or the state of the service."""
        url = urlsplit(self.path)
        if url.path == "/ready":
            Handler.asked += 1
            return self.answer(200, {"ready": self.ready()})
        if url.path != STORE["path"]:
            return self.answer(404, {"error": "no such path"})
        if not self.ready():
            return self.answer(503, {"error": "still loading, see /ready"})
        if STORE["key"] and self.headers.get("X-Key") != STORE["key"]:
            return self.answer(401, {"error": "wrong or missing X-Key"})
        return self.answer(200, self.page(parse_qs(url.query)))

    def ready(self):
        """Whether the data is loaded: that takes as long as a few questions."""
        return Handler.asked >= STORE["loading"]

    def page(self, query):
        """The records that a query asks for."""
        records = [dict(zip(STORE["fields"], row)) for row in STORE["rows"]]
        if not STORE["page_size"]:
            return records
        text = query.get("page", ["1"])[0]
        number = int(text) if text.isdigit() else 1
        return records[(number - 1) * STORE["page_size"] :][: STORE["page_size"]] if number else []

    def answer(self, status, data):
        """Send JSON."""
        body = json.dumps(data, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Write no log."""


class Server(socketserver.ThreadingTCPServer):
    """Serves until it is killed."""

    allow_reuse_address = True
    daemon_threads = True


if __name__ == "__main__":
    Server(("127.0.0.1", STORE["port"]), Handler).serve_forever()
