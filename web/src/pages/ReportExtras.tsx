// The end of a report: environment, method, and how to do it again.
import type { Extras } from '../source/source.ts';

export function ReportExtras({ extras }: { extras: Extras }) {
  return (
    <section class="report-extras">
      {extras.reproduce !== '' && <><h2>How to reproduce</h2><pre tabIndex={0}>{extras.reproduce}</pre></>}
      {extras.environment.length > 0 && (
        <><h2>Environment</h2><table class="table"><tbody>{extras.environment.map((row, index) => <tr key={index}><th scope="row">{row.name}</th><td>{row.value}</td></tr>)}</tbody></table></>
      )}
      {extras.method.length > 0 && <><h2>Method</h2>{extras.method.map((one, index) => <p key={index}><strong>{one.title}.</strong> {one.text}</p>)}</>}
    </section>
  );
}
