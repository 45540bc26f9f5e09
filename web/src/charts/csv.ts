// RFC 4180.
import type { Columns } from '../source/columns.ts';
import type { Line } from './catalog.ts';

export const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Long CSV with the columns of `export`, and min and max where windows are shown. */
export function csvOf(columns: Columns, lines: readonly Line[]): string {
  const isWindow = columns.window_s !== null;
  const isSmooth = columns.columns.some((column) => column.smooth !== null);
  const rows = [`time_s,metric,labels,${isWindow ? 'mean,min,max' : 'value'}${isSmooth ? ',smooth' : ''}`];
  for (const line of lines) {
    const column = columns.columns.find((one) => one.series === line.series);
    const labels = Object.entries(line.metric.labels).map(([key, value]) => `${key}=${value}`).join(';');
    column?.time.forEach((time, index) => {
      const values = isWindow ? [column.mean[index], column.min?.[index], column.max?.[index]] : [column.mean[index]];
      if (isSmooth) values.push(column.smooth?.[index]);
      rows.push([time, quoted(line.metric.name), quoted(labels), ...values].join(','));
    });
  }
  return rows.join('\r\n') + '\r\n';
}
