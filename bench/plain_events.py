"""The least that a server of events does: sends one text to every connection once per second.

plain_events.py EVENT       prints its port
"""
import selectors
import socket
import sys
import time

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\n\r\n"
PERIOD_S = 1.0

event = sys.argv[1].encode().decode("unicode_escape").encode()
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
print(listener.getsockname()[1], flush=True)
selector = selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
connections = set()
due = time.monotonic() + PERIOD_S
while True:
    for key, _ in selector.select(max(0.0, due - time.monotonic())):
        if key.fileobj is listener:
            connection, _ = listener.accept()
            selector.register(connection, selectors.EVENT_READ)
        elif key.fileobj.recv(4096):
            key.fileobj.sendall(HEAD + event)
            connections.add(key.fileobj)
        else:
            selector.unregister(key.fileobj)
            connections.discard(key.fileobj)
            key.fileobj.close()
    if time.monotonic() >= due:
        due = max(due + PERIOD_S, time.monotonic())
        for connection in connections:
            connection.sendall(event)
