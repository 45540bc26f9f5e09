// Areas that differ by more than their colour.
import { hatches, hatchInk, hatchOpacity, type Fill } from './palette.ts';

/** Once in the page: an area of a drawing is filled with url(#hatch-1). */
export function Hatches() {
  return (
    <svg class="sr-only" width="0" height="0" aria-hidden="true">
      <defs>{hatches.map((path, index) => path !== '' && (
        <pattern key={index} id={`hatch-${index}`} width="8" height="8" patternUnits="userSpaceOnUse"><path d={path} stroke={hatchInk} stroke-opacity={hatchOpacity} stroke-width="1.5" fill="none" /></pattern>
      ))}</defs>
    </svg>
  );
}

interface AreaProps {
  x: string;
  y: string | number;
  width: string;
  height: string | number;
  fill: Fill;
  title?: string;
}

export function Area({ fill, title, ...place }: AreaProps) {
  return (
    <>
      <rect {...place} fill={fill.color}>{title && <title>{title}</title>}</rect>
      {fill.hatch > 0 && <rect {...place} fill={`url(#hatch-${fill.hatch})`} pointer-events="none" />}
    </>
  );
}

/** An area of its own; a small one stands before a name. */
export function Patch({ fill, name = 'square', width }: { fill: Fill; name?: string; width?: string }) {
  return <svg class={name} style={width === undefined ? {} : { width }} aria-hidden="true"><Area x="0" y="0" width="100%" height="100%" fill={fill} /></svg>;
}
