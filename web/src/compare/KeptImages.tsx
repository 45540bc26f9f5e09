// Images that the runs kept, beside each other at equal scale; one slider goes through them.
import { useSignal } from '@preact/signals';
import { source } from '../source/current.ts';
import { clock } from '../format/time.ts';
import type { CompareState } from './state.ts';

export function KeptImages({ state }: { state: CompareState }) {
  const at = useSignal(0);
  const runs = state.runs.value.map((run) => ({ run, images: run.files.filter((file) => file.type.startsWith('image/')) }));
  const most = Math.max(0, ...runs.map(({ images }) => images.length));
  if (most === 0) return null;
  const index = Math.min(at.value, most - 1);
  return (
    <section aria-label="Kept images">
      <div class="toolbar">
        <h2>Kept images</h2>
        {most > 1 && <label>image {index + 1} of {most} <input type="range" min="0" max={most - 1} value={index} onInput={(event) => { at.value = Number(event.currentTarget.value); }} /></label>}
      </div>
      <div class="kept">
        {runs.map(({ run, images }) => {
          const image = images[Math.min(index, images.length - 1)];
          const name = state.names.value.get(run.id) ?? run.id;
          return (
            <figure key={run.id}>
              {image ? <img src={source.fileAddress(run.id, image)} alt={`${image.path} of ${name}`} loading="lazy" /> : <p class="muted">no image was kept</p>}
              <figcaption>{name}{image && <span class="muted"> {image.path}{image.time_s !== null && ` at ${clock(image.time_s)}`}</span>}</figcaption>
            </figure>
          );
        })}
      </div>
    </section>
  );
}
