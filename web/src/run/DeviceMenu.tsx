// Which devices, threads and sensors are drawn, in every chart at once.
import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { Chart } from '../charts/catalog.ts';

const titles: Record<string, string> = {
  gpu: 'GPU', device: 'disk or network', sensor: 'sensor', cpu: 'processor', role: 'thread', process: 'recorder process', mountpoint: 'file system', resource: 'pressure',
  fs: 'shared file system', target: 'storage target', port: 'port', engine: 'engine', node: 'memory node', client: 'client', direction: 'direction', set: 'data set',
};

/** `all`: what is not drawn, as "key:value". */
export function DeviceMenu({ all, charts }: { all: Signal<ReadonlySet<string>>; charts: readonly Chart[] }) {
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
  const hidden = all.value;
  if (devices.size === 0) return null;
  const setAll = (key: string, values: string[], isShown: boolean) => {
    const changed = new Set(hidden);
    for (const value of values) {
      if (isShown) changed.delete(`${key}:${value}`);
      else changed.add(`${key}:${value}`);
    }
    all.value = changed;
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
              {values.map((value) => <label key={value}><input type="checkbox" checked={!hidden.has(`${key}:${value}`)} onChange={() => setAll(key, [value], hidden.has(`${key}:${value}`))} /> {value}</label>)}
            </fieldset>
          );
        })}
      </div>
    </details>
  );
}
