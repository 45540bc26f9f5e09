// Runs in every page before its own scripts: when each canvas was drawn and painted since the navigation or the last key, and
// how long tasks were.
(() => {
  const now = performance.now.bind(performance);
  const nextFrame = requestAnimationFrame.bind(window);
  const painted = new Map(); // canvas of the document: when it was painted first and last
  const pending = new Set(); // drawn, not yet painted
  const longTasks = [];
  let begin = 0;
  let lastDrawn = 0;
  let isAsked = false;
  let isInFrame = false;

  // A message that is sent in a frame arrives after the frame was painted.
  const { port1: after, port2: frame } = new MessageChannel();
  after.onmessage = () => {
    const time = now();
    isAsked = false;
    // A canvas that is not in the document is not seen, and would stay in memory as long as it is listed here.
    for (const canvas of painted.keys()) if (!canvas.isConnected) painted.delete(canvas);
    for (const canvas of pending) if (canvas.isConnected) painted.set(canvas, { first: painted.get(canvas)?.first ?? time, last: time });
    pending.clear();
  };
  window.requestAnimationFrame = (callback) => nextFrame((time) => {
    isInFrame = true;
    try {
      callback(time);
    } finally {
      isInFrame = false;
    }
  });
  const { stroke } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.stroke = function (...path) {
    stroke.apply(this, path);
    lastDrawn = now();
    pending.add(this.canvas);
    if (isAsked) return;
    isAsked = true;
    if (isInFrame) frame.postMessage(0);
    else nextFrame(() => frame.postMessage(0));
  };
  addEventListener('keydown', (event) => {
    begin = event.timeStamp;
    painted.clear();
  }, true);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longTasks.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });

  /** ms from the navigation or the last key until every chart was painted once, and until the last of them was painted last. */
  const seen = () => {
    const times = [...painted].filter(([canvas]) => canvas.isConnected).map(([, time]) => time);
    return {
      charts: times.length,
      first: Math.max(...times.map((time) => time.first)) - begin,
      last: Math.max(...times.map((time) => time.last)) - begin,
    };
  };
  window.benchWatch = {
    /** When nothing was drawn for `ms`. */
    quiet: (ms) => new Promise((resolve) => {
      const check = () => {
        if (painted.size > 0 && pending.size === 0 && now() - lastDrawn > ms) resolve(seen());
        else setTimeout(check, 50);
      };
      check();
    }),
    takeLongTasks: () => longTasks.splice(0),
  };
})();
