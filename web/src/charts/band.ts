// The area between the smallest and the largest value of each window, and its two edges.
import type uPlot from 'uplot';

type Values = ArrayLike<number | null | undefined>;
type Path = Pick<Path2D, 'moveTo' | 'lineTo' | 'closePath'>;

/**
 * Adds both edges to `stroke` and the area between them to `fill`, anew after each interruption (null). undefined: there is no
 * window at this x. `left` and `top` give the place of x and of a value.
 */
export function outline(stroke: Path, fill: Path, xs: ArrayLike<number>, highs: Values, lows: Values, [first, last]: [number, number], left: (x: number) => number, top: (y: number) => number): void {
  const backX: number[] = [];
  const backY: number[] = [];
  const close = () => {
    if (backX.length === 0) return;
    for (let i = backX.length - 1; i >= 0; i--) {
      const x = backX[i] ?? 0;
      const y = backY[i] ?? 0;
      fill.lineTo(x, y);
      if (i === backX.length - 1) stroke.moveTo(x, y);
      else stroke.lineTo(x, y);
    }
    fill.closePath();
    backX.length = backY.length = 0;
  };
  for (let i = first; i <= last; i++) {
    const high = highs[i];
    const low = lows[i];
    if (high === undefined || low === undefined) continue;
    if (high === null || low === null) {
      close();
      continue;
    }
    const x = left(xs[i] ?? 0);
    const y = top(high);
    if (backX.length === 0) {
      stroke.moveTo(x, y);
      fill.moveTo(x, y);
    } else {
      stroke.lineTo(x, y);
      fill.lineTo(x, y);
    }
    backX.push(x);
    backY.push(top(low));
  }
  close();
}

/**
 * Draws a series, the upper edge, and the one after it, the lower edge. uPlot's own bands are filled through a clip that has
 * the shape of an edge, which takes longer than all the rest of a chart.
 */
export const bandPaths: uPlot.Series.PathBuilder = (plot, series, first, last) => {
  const { bbox, scales, data } = plot;
  const { min: xLow = 0, max: xHigh = 1 } = scales['x'] ?? {};
  const { min: yLow = 0, max: yHigh = 1 } = scales['y'] ?? {};
  const perX = bbox.width / (xHigh - xLow);
  const perY = bbox.height / (yHigh - yLow);
  const bottom = bbox.top + bbox.height;
  const stroke = new Path2D();
  const fill = new Path2D();
  outline(stroke, fill, data[0], data[series] ?? [], data[series + 1] ?? [], [first, last],
    (x) => Math.round(bbox.left + (x - xLow) * perX), (y) => Math.round(bottom - (y - yLow) * perY));
  return { stroke, fill, clip: null, band: null, flags: 0 };
};

/** The lower edge is drawn with the upper one. */
export const noPaths: uPlot.Series.PathBuilder = () => null;
