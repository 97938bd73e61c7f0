// Labels and taints as the rows of a form and as a request has them.
import type { Taint } from "./types";

export interface Pair {
  key: string;
  value: string;
}

export const toPairs = (labels: Record<string, string> | undefined): Pair[] =>
  Object.entries(labels ?? {}).map(([key, value]) => ({ key, value }));
export const toLabels = (pairs: Pair[]): Record<string, string> =>
  Object.fromEntries(pairs.filter((each) => each.key !== "").map((each) => [each.key, each.value]));
export const toTaints = (rows: Taint[]): Taint[] =>
  rows.filter((each) => each.key !== "").map(({ key, value, effect }) => (value ? { key, value, effect } : { key, effect }));
