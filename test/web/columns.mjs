// Columns as the server sends them (docs/web-api.md), read and written without the code of the pages.
import { origin, request } from './browser.mjs';

/** [{series, time, value or mean, min, max}] of some series of a run. */
export async function columns(id, query) {
  const reply = await request(`/api/run/${id}/columns?${new URLSearchParams(query)}`);
  const bytes = await reply.arrayBuffer();
  const length = new DataView(bytes).getUint32(4, true);
  let at = 8 + length;
  return JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 8, length))).columns.map(({ arrays, count, ...rest }) => {
    const read = arrays.map((name) => {
      at += 8 * count;
      return [name, [...new Float64Array(bytes, at - 8 * count, count)]];
    });
    return { ...rest, ...Object.fromEntries(read) };
  });
}

/** The body of a reply with samples: {series, unit, reading, time, value} each. */
function encoded(head, all) {
  const list = all.map(({ time, value: _value, ...rest }) => ({ ...rest, count: time.length, arrays: ['time', 'value'] }));
  const text = Buffer.from(JSON.stringify({ ...head, window_s: null, columns: list }));
  const padded = Buffer.concat([text, Buffer.alloc((8 - (text.length % 8)) % 8, ' ')]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(padded.length);
  const numbers = all.flatMap(({ time, value }) => [time, value]).map((array) => Buffer.from(Float64Array.from(array).buffer));
  return Buffer.concat([Buffer.from('TSC1'), length, padded, ...numbers]);
}

/** Gives a run these series instead of its own: {name, labels, unit, kind, reading, at(time)} each, 200 values of each. */
export async function inventSeries(page, id, info, invented) {
  const whole = info.run.duration_s;
  const time = Array.from({ length: 200 }, (_one, index) => (whole * (index + 0.5)) / 200);
  const metrics = invented.map(({ name, labels, unit, kind, at }) => ({
    name, labels, unit, kind, derived: false, status: 'ok', reason: null, remedy: null, samples: time.length, min: at(0), mean: at(whole / 2), max: at(whole), last: at(whole),
    delta: null, rate: kind === 'counter' ? at(whole / 2) : null,
  }));
  await page.route(`**/api/run/${id}/info`, (route) => route.fulfill({ json: { ...info, metrics } }));
  await page.route((url) => url.origin === origin && url.pathname === `/api/run/${id}/columns`, (route) => {
    const { series, from, to } = Object.fromEntries(new URL(route.request().url()).searchParams);
    const inside = time.filter((one) => one >= Number(from) && one <= Number(to));
    const all = series.split(',').map(Number).map((index) => ({
      series: index, reading: metrics[index].kind === 'counter' ? 'rate' : 'value', unit: invented[index].drawn ?? metrics[index].unit, time: inside, value: inside.map(invented[index].at),
    }));
    return route.fulfill({ body: encoded({ from_s: Number(from), to_s: Number(to), duration_s: whole }, all), contentType: 'application/octet-stream' });
  });
  return time;
}
