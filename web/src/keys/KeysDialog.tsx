// The list of keys.
import { useEffect, useRef } from 'preact/hooks';
import { activeKeys, isHelpOpen } from './keys.ts';

const pointer: [string, string][] = [
  ['drag', 'select a span in every chart'],
  ['Shift drag', 'move in time'],
  ['Ctrl wheel', 'zoom at the pointer'],
  ['double click', 'show the whole run'],
  ['← → on a chart', 'move the cursor; with Shift, select'],
];

export function KeysDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isHelpOpen.value) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isHelpOpen.value]);
  const close = () => { isHelpOpen.value = false; };
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={close} onClick={(event) => { if (event.target === dialog.current) close(); }}>
      <h2 id="keys-title">Keys</h2>
      {isHelpOpen.value && <dl class="keys">
        {[...activeKeys.value].reverse().flat().map((key) => <div key={key.shown}><dt>{key.shown.split(' ').map((one) => <kbd key={one}>{one}</kbd>)}</dt><dd>{key.text}</dd></div>)}
        {pointer.map(([how, what]) => <div key={how}><dt><kbd>{how}</kbd></dt><dd>{what}</dd></div>)}
      </dl>}
      <button onClick={close}>Close</button>
    </dialog>
  );
}
