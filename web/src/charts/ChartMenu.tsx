// Table, and downloads of what is seen.
import type { ReadonlySignal } from '@preact/signals';
import { Menu } from '../parts/Menu.tsx';
import type { RunState } from '../state/run.ts';
import type { Chart, Line } from './catalog.ts';
import { downloadCsv, downloadJson, downloadPng, downloadSvg, type Seen } from './download.ts';
import type { ChartFeed } from './feed.ts';

interface Props {
  chart: Chart;
  run: RunState;
  feed: ChartFeed;
  lines: ReadonlySignal<Line[]>;
  host: { current: HTMLElement | null };
  onTable: () => void;
  isTableOpen: boolean;
}

export function ChartMenu({ chart, run, feed, lines, host, onTable, isTableOpen }: Props) {
  const save = (write: (seen: Seen) => void) => () => {
    const columns = feed.columns.peek();
    if (columns) write({ chart, run, columns, lines: lines.peek(), host: host.current });
  };
  return (
    <Menu label={`Options of ${chart.title}`} text="⋯" items={[
      { text: isTableOpen ? 'Hide table' : 'Show as table', act: onTable },
      { text: 'Download PNG', act: save(downloadPng) },
      { text: 'Download SVG', act: save(downloadSvg) },
      { text: 'Download CSV', act: save(downloadCsv) },
      { text: 'Download JSON', act: save(downloadJson) },
    ]} />
  );
}
