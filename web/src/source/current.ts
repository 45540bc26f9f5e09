// The one source of this page.
import { EmbeddedSource, type ReportDocument } from './embedded.ts';
import { HttpSource } from './http.ts';
import type { DataSource } from './source.ts';

function open(): DataSource {
  const report = document.getElementById('trainscope-report');
  if (!report) return new HttpSource();
  return new EmbeddedSource(JSON.parse(report.textContent ?? '') as ReportDocument);
}

export const source: DataSource = open();
