"""64 environments that wait for a server: compares threads and processes with Gymnasium's AsyncVectorEnv.

    python examples/waiting_environments.py
    python examples/waiting_environments.py --num-envs 256 --delay 0.1

Each environment is a game on a local HTTP server, which takes a random time to answer, like a simulator on another
machine or a language model. Threads wait for 64 answers at once, without one process per environment. An asynchronous
pool continues with the answers that have arrived, while a synchronous pool waits for the slowest.
"""
import argparse
import http.client
import http.server
import json
import random
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np

import cypool

NUMBERS = 100


class Game(http.server.BaseHTTPRequestHandler):
    """A number-guessing game, one per connection."""

    protocol_version = "HTTP/1.1"
    # send each answer as one packet
    wbufsize = -1
    delay = 0.0

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        time.sleep(random.expovariate(1 / self.delay))
        if "seed" in message:
            self.number = random.Random(message["seed"]).randrange(NUMBERS)
            hint = 0
        else:
            guess = message["guess"]
            hint = 0 if guess == self.number else 1 if guess < self.number else 2
        answer = json.dumps({"hint": hint}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    # all environments connect at once
    request_queue_size = 1024


class Remote(gymnasium.Env):
    """A game on the server; the observation is the hint: nothing (0), too small (1) or too large (2)."""

    observation_space = gymnasium.spaces.Discrete(3)
    action_space = gymnasium.spaces.Discrete(NUMBERS)

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, **message):
        self.connection.request("POST", "/", json.dumps(message))
        return json.loads(self.connection.getresponse().read())["hint"]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.ask(seed=int(self.np_random.integers(2**31))), {}

    def step(self, action):
        hint = self.ask(guess=int(action))
        return hint, float(hint == 0), hint == 0, False, {}

    def close(self):
        self.connection.close()


def serve(delay):
    """Serves games until the parent process closes this process's standard input, or ends."""
    Game.delay = delay
    with Server(("127.0.0.1", 0), Game) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_port, flush=True)
        sys.stdin.read()
        server.shutdown()


def memory(server):
    """Returns the memory, in bytes, of this process and its children except the server; shared pages count once."""
    pids, total = ["self"], 0
    for pid in pids:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            # any thread may have started them
            children = [child for task in Path(f"/proc/{pid}/task").iterdir()
                        for child in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue
        total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        pids += [child for child in children if int(child) != server]
    return total


def synchronous(env, num_steps):
    actions = np.random.default_rng(0).integers(0, NUMBERS, (num_steps, env.num_envs))
    for each in actions:
        env.step(each)
    return actions.size


def asynchronous(env, num_steps):
    rng, count = np.random.default_rng(0), 0
    while count < num_steps * env.num_envs:
        ids = env.recv()[4]["env_id"]
        env.send(rng.integers(0, NUMBERS, len(ids)), ids)
        count += len(ids)
    return count


def measure(name, make, num_steps, server):
    """Prints a vector environment's steps per second, start-up time and memory."""
    before, began = memory(server), time.perf_counter()
    env = make()
    is_async = getattr(env, "batch_size", env.num_envs) < env.num_envs
    if is_async:
        env.async_reset(seed=0)
    else:
        env.reset(seed=0)
    started, more = time.perf_counter() - began, memory(server) - before
    began = time.perf_counter()
    count = (asynchronous if is_async else synchronous)(env, num_steps)
    rate = count / (time.perf_counter() - began)
    env.close()
    print(f"{name:34} {rate:10,.0f} steps/s {started:8.2f} s to start {more / 1e6:8.1f} MB", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--num-envs", type=int, default=64)
    parser.add_argument("--num-steps", type=int, default=50, help="steps per environment")
    parser.add_argument("--delay", type=float, default=0.02, help="mean response time in seconds")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.delay)
        return
    command = [sys.executable, __file__, "--serve", "--delay", str(args.delay)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        factories = [partial(Remote, int(server.stdout.readline()))] * args.num_envs
        for name, make in [
                ("AsyncVectorEnv", partial(gymnasium.vector.AsyncVectorEnv, factories)),
                ("cypool, processes", partial(cypool.from_factories, factories)),
                ("cypool, threads", partial(cypool.from_factories, factories, workers="threads")),
                ("cypool, threads, asynchronous", partial(cypool.from_factories, factories, workers="threads",
                                                          batch_size=max(args.num_envs // 4, 1)))]:
            measure(name, make, args.num_steps, server.pid)


if __name__ == "__main__":
    main()
