// Where the parts of a feature stand in its picture: each right of all that it needs, as high as they stand. What is too wide
// goes on in a further band below.
import type { FeaturePart } from "../../shared/types";

export const kBox = { width: 206, height: 84, across: 40, down: 12, between: 28 };

export interface Placed {
  part: FeaturePart;
  x: number;
  y: number;
  band: number;
}
export interface Picture {
  boxes: Placed[];
  lines: { id: string; path: string }[];
  width: number;
  height: number;
}

// How many parts must be there before this one, along the longest way; a part in a circle counts as if nothing were needed.
function depthOf(part: FeaturePart, byId: Map<string, FeaturePart>, known: Map<string, number>, under: Set<string>): number {
  const found = known.get(part.id);
  if (found !== undefined) return found;
  if (under.has(part.id)) return 0;
  under.add(part.id);
  const needs = (part.needs ?? []).flatMap((id) => byId.get(id) ?? []);
  const depth = needs.length === 0 ? 0 : 1 + Math.max(...needs.map((each) => depthOf(each, byId, known, under)));
  under.delete(part.id);
  known.set(part.id, depth);
  return depth;
}

function columnsOf(parts: FeaturePart[]): FeaturePart[][] {
  const byId = new Map(parts.map((part) => [part.id, part]));
  const known = new Map<string, number>();
  const columns: FeaturePart[][] = [];
  for (const part of parts) (columns[depthOf(part, byId, known, new Set())] ??= []).push(part);
  return columns.map((column) => column ?? []);
}

// In its band a straight curve; to another band down between the bands and in from the left.
function pathOf(from: Placed, to: Placed): string {
  const [x1, y1, x2, y2] = [from.x + kBox.width, from.y + kBox.height / 2, to.x, to.y + kBox.height / 2];
  const bend = kBox.across / 2;
  if (from.band === to.band) return `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`;
  const lane = to.y - kBox.between / 2;
  return `M${x1},${y1} h${bend / 2} V${lane} H${x2 - bend / 2} V${y2} H${x2}`;
}

export function layOut(parts: FeaturePart[], width: number): Picture {
  const columns = columnsOf(parts);
  const step = kBox.width + kBox.across;
  // Room on the left for lines that come from the band above.
  const across = Math.max(1, Math.floor((width - kBox.across) / step));
  const placed = new Map<string, Placed>();
  let top = 0;
  let tallest = 0;
  columns.forEach((column, depth) => {
    if (depth > 0 && depth % across === 0) {
      top += tallest * (kBox.height + kBox.down) - kBox.down + kBox.between;
      tallest = 0;
    }
    tallest = Math.max(tallest, column.length);
    const rowOf = (part: FeaturePart) => {
      const rows = (part.needs ?? []).flatMap((id) => placed.get(id)?.y ?? []);
      return rows.length ? rows.reduce((sum, y) => sum + y, 0) / rows.length : 0;
    };
    const sorted = depth === 0 ? column : [...column].sort((a, b) => rowOf(a) - rowOf(b));
    const left = kBox.across / 2 + (depth % across) * step;
    sorted.forEach((part, row) =>
      placed.set(part.id, { part, x: left, y: top + row * (kBox.height + kBox.down), band: Math.floor(depth / across) }),
    );
  });
  const boxes = [...placed.values()];
  const lines = boxes.flatMap((to) =>
    (to.part.needs ?? []).flatMap((id) =>
      placed.has(id) ? [{ id: `${id} ${to.part.id}`, path: pathOf(placed.get(id)!, to) }] : [],
    ),
  );
  const shown = Math.min(across, columns.length);
  return { boxes, lines, width: shown * step, height: Math.max(0, top + tallest * (kBox.height + kBox.down) - kBox.down) };
}
