// Which devices, threads and sensors are drawn, in every chart at once.
import { useEffect, useRef } from 'preact/hooks';
import type { Chart } from '../charts/catalog.ts';
import type { RunState } from '../state/run.ts';

const titles: Record<string, string> = { gpu: 'GPU', device: 'disk or network', sensor: 'sensor', cpu: 'processor', role: 'thread', process: 'recorder process', mountpoint: 'file system', resource: 'pressure' };

export function DeviceMenu({ run, charts }: { run: RunState; charts: Chart[] }) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const close = (event: Event) => { if (box.current && !box.current.contains(event.target as Node)) box.current.open = false; };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, []);
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== 'Escape' || !box.current?.open) return;
    event.preventDefault();
    event.stopPropagation();
    box.current.open = false;
    box.current.querySelector('summary')?.focus();
  };
  const devices = new Map<string, Set<string>>();
  for (const chart of charts) {
    for (const line of chart.lines) {
      for (const device of line.devices) {
        const cut = device.indexOf(':');
        const key = device.slice(0, cut);
        devices.set(key, (devices.get(key) ?? new Set()).add(device.slice(cut + 1)));
      }
    }
  }
  const hidden = run.view.hidden.value;
  if (devices.size === 0) return null;
  const setAll = (key: string, values: string[], isShown: boolean) => {
    const changed = new Set(hidden);
    for (const value of values) {
      if (isShown) changed.delete(`${key}:${value}`);
      else changed.add(`${key}:${value}`);
    }
    run.view.hidden.value = changed;
  };
  return (
    <details class="devices" ref={box} onKeyDown={onKey}>
      <summary>devices {hidden.size === 0 ? 'all' : `${hidden.size} hidden`}</summary>
      <div class="devices-list">
        {[...devices].map(([key, found]) => {
          const values = [...found].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
          return (
            <fieldset key={key}>
              <legend>{titles[key] ?? key} {values.length > 1 && <><button class="link" onClick={() => setAll(key, values, true)}>all</button> <button class="link" onClick={() => setAll(key, values, false)}>none</button></>}</legend>
              {values.map((value) => <label key={value}><input type="checkbox" checked={!hidden.has(`${key}:${value}`)} onChange={() => run.view.toggle('hidden', `${key}:${value}`)} /> {value}</label>)}
            </fieldset>
          );
        })}
      </div>
    </details>
  );
}
