// Runs in the page of a live run before its own scripts: its clock and the events of the server come SPEED times as fast, so
// that hours with an open page take minutes. Between two events of the server the run grows as it did.
(() => {
  const speed = window.benchSpeed;
  const now = performance.now.bind(performance);
  performance.now = () => now() * speed;
  // Drawing seems to take no time: the page would rest after it, and events come faster than it rests.
  const begin = Date.now();
  Date.now = () => begin;
  window.benchTicks = 0;
  window.EventSource = class extends EventSource {
    #handlers = [];
    #state = null;
    #stateAt = 0;
    #timer = 0;

    constructor(address) {
      super(address);
      super.addEventListener('now', (event) => {
        this.#state = JSON.parse(event.data);
        this.#stateAt = now();
      });
      this.#timer = setInterval(() => this.#tick(), 1000 / speed);
    }

    addEventListener(type, handler) {
      if (type === 'now') this.#handlers.push(handler);
      else super.addEventListener(type, handler);
    }

    close() {
      clearInterval(this.#timer);
      super.close();
    }

    #tick() {
      if (!this.#state) return;
      window.benchTicks += 1;
      const data = JSON.stringify({ ...this.#state, duration_s: this.#state.duration_s + (now() - this.#stateAt) / 1000 });
      for (const handler of this.#handlers) handler(new MessageEvent('now', { data }));
    }
  };
})();
