// The bar on top and the page below it.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Hatches } from './charts/Hatch.tsx';
import { isHelpOpen } from './keys/keys.ts';
import { KeysDialog } from './keys/KeysDialog.tsx';
import { ComparePage } from './pages/ComparePage.tsx';
import { RunPage } from './pages/RunPage.tsx';
import { RunsPage } from './pages/RunsPage.tsx';
import { source } from './source/current.ts';
import { route, runLink } from './state/route.ts';
import { isDark, toggleTheme } from './state/settings.ts';

export function App() {
  const { page, id } = route.value;
  return (
    <>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById('content')?.focus(); }}>Skip to content</a>
      <TopBar />
      <div id="content" tabIndex={-1}>
        {page === 'run' ? <RunPage key={id} id={id} /> : page === 'compare' ? <ComparePage /> : <RunsPage />}
      </div>
      <KeysDialog />
      <Hatches />
    </>
  );
}

function TopBar() {
  return (
    <nav class="top-bar" aria-label="Pages">
      <a class="brand" href={source.start}>trainscope</a>
      {source.isReport ? <ReportLinks /> : <><a href="#/" aria-current={route.value.page === 'runs' ? 'page' : undefined}>Runs</a>
        {route.value.page === 'run' && <a href={`#/?pick=${encodeURIComponent(route.value.id)}`}>Compare with…</a>}</>}
      <span class="grow" />
      <button class="icon" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" onClick={() => { isHelpOpen.value = true; }}>?</button>
      <button class="icon" aria-label={isDark.value ? 'Switch to the light theme' : 'Switch to the dark theme'} title="Dark or light (t)" onClick={toggleTheme}>◐</button>
    </nav>
  );
}

/** A report has few runs: each has its link. */
function ReportLinks() {
  const runs = useSignal<{ id: string; name: string | null }[]>([]);
  useEffect(() => { void source.runs().then((found) => { runs.value = found; }); }, []);
  if (runs.value.length < 2) return null;
  return (
    <>
      {source.comparisons.map(({ text, link }) => <a key={link} href={link}>{text}</a>)}
      {runs.value.map((run) => <a key={run.id} href={runLink(run.id)}>{run.name ?? run.id}</a>)}
    </>
  );
}
