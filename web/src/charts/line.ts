// Lines of many points. Chromium draws the outline of a line that is wider than a pixel thirty times slower than a line of one
// pixel, so a dense line is drawn as several of one pixel beside each other.
import uPlot from 'uplot';

const denseShare = 0.25; // points per pixel from which on a line is dense

/** Where lines of one pixel are drawn to look like one of `width` pixels: as far apart across and along, without a gap. */
export function offsetsOf(width: number): [number, number][] {
  const more = Math.max(0, width - 1);
  const count = Math.ceil(more - 1e-9);
  const offsets: [number, number][] = [[0, 0]];
  for (let i = 1; i <= count; i++) offsets.push([(more * i) / count, 0], [0, (more * i) / count]);
  return offsets;
}

const linear = uPlot.paths.linear?.();

export const linePaths: uPlot.Series.PathBuilder = (plot, series, first, last) => {
  const paths = linear?.(plot, series, first, last) ?? null;
  const width = (plot.series[series]?.width ?? 1) * uPlot.pxRatio;
  if (!(paths?.stroke instanceof Path2D) || width <= 1 || last - first < denseShare * plot.bbox.width) return paths;
  const stroke = new Path2D();
  for (const [e, f] of offsetsOf(width)) stroke.addPath(paths.stroke, { e, f });
  // uPlot's declarations call it `width`, uPlot itself `_width`.
  return Object.assign(paths, { stroke, _width: 1 / uPlot.pxRatio });
};
