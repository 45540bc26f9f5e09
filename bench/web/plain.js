// A page of many charts and nothing else, with uPlot or ECharts: what the page of a run is compared with.
//   #           draws data.bin (count of series and points, the times, and per series mean, max and min; 64-bit floats)
//   #live=N,M,T,C  draws C charts of N random values, of which M are replaced every T ms
// w zooms in, 0 shows everything.
const width = 674; // of a chart of the page of a run in a window of 1280 px
const height = 120;
const color = '#0072b2';
const library = window.uPlot ? 'uplot' : 'echarts';
let range = [0, 1];
let whole = range;

function element() {
  const div = document.createElement('div');
  div.className = 'chart';
  document.body.append(div);
  return div;
}

/** `data`: x, then the lines; of three lines the last two are the edges of a band. */
const makers = {
  uplot(data) {
    const edge = { stroke: '#0072b280', width: 0.5, points: { show: false } };
    const line = { stroke: color, width: 1.5, points: { show: false } };
    const hasBand = data.length === 4;
    const plot = new uPlot({
      width, height, legend: { show: false }, cursor: { y: false, sync: { key: 'all' } },
      scales: { x: { time: false, range: () => range }, y: { range: (_plot, _low, high) => [0, Math.max(1, high)] } },
      axes: [{ size: 22, space: 70 }, { size: 68, space: 26 }],
      series: [{}, line, ...(hasBand ? [edge, { ...edge }] : [])],
      bands: hasBand ? [{ series: [2, 3], fill: '#0072b247' }] : [],
    }, data, element());
    return {
      zoom: () => plot.setScale('x', { min: range[0], max: range[1] }),
      replace: (values) => { plot.setData(values, false); plot.setScale('x', { min: range[0], max: range[1] }); },
    };
  },
  echarts(data) {
    const chart = echarts.init(element(), null, { width, height, renderer: 'canvas' });
    const series = (values) => values.slice(1).map((line, index) => ({
      type: 'line', showSymbol: false, sampling: 'lttb', lineStyle: { width: index === 0 ? 1.5 : 0.5, color },
      data: Array.from(line, (value, at) => [values[0][at], value]),
    }));
    chart.setOption({
      animation: false, grid: { left: 68, right: 10, top: 6, bottom: 22 }, tooltip: { trigger: 'axis' },
      xAxis: { type: 'value', min: 'dataMin', max: 'dataMax' }, yAxis: { type: 'value', min: 0, max: 1 },
      dataZoom: [{ type: 'inside' }], series: series(data),
    });
    return {
      zoom: () => chart.dispatchAction({ type: 'dataZoom', startValue: range[0], endValue: range[1] }),
      replace: (values) => chart.setOption({ series: series(values) }),
    };
  },
};

async function drawData() {
  const buffer = await (await fetch('data.bin')).arrayBuffer();
  const [series, points] = new Float64Array(buffer, 0, 2);
  const take = (index) => new Float64Array(buffer, 8 * (2 + index * points), points);
  const x = take(0);
  whole = range = [x[0], x[points - 1]];
  return Array.from({ length: series }, (_one, i) => makers[library]([x, take(1 + 3 * i), take(2 + 3 * i), take(3 + 3 * i)]));
}

function drawLive(points, replaced, every, count) {
  let end = points;
  const times = () => Array.from({ length: points }, (_one, i) => end - points + i);
  const values = Array.from({ length: count }, () => Array.from({ length: points }, Math.random));
  const show = () => { whole = range = [end - points, end - 1]; };
  show();
  const charts = values.map((line) => makers[library]([times(), line]));
  window.benchTicks = 0;
  setInterval(() => {
    end += replaced;
    show();
    window.benchTicks += 1;
    const x = times();
    charts.forEach((chart, i) => {
      values[i] = [...values[i].slice(replaced), ...Array.from({ length: replaced }, Math.random)];
      chart.replace([x, values[i]]);
    });
  }, every);
  return charts;
}

const live = location.hash.match(/^#live=(\d+),(\d+),(\d+),(\d+)$/);
const charts = live ? drawLive(...live.slice(1).map(Number)) : await drawData();
addEventListener('keydown', (event) => {
  const [from, to] = range;
  if (event.key === 'w') range = [from + (to - from) / 4, to - (to - from) / 4];
  else if (event.key === '0') range = whole;
  for (const chart of charts) chart.zoom();
});
