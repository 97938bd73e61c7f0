// A list that the server pages, newest first: the newest page is kept fresh, older pages are loaded when asked for and kept.
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";

import type { Older } from "./data_table";

export interface CursorPage<T> {
  rows: T[];
  total?: number;
  next?: string;
}

interface Kept<T> {
  scope: string;
  rows: T[];
  next?: string;
  // An older page has been loaded: the cursor is that page's.
  reached: boolean;
}

// `fresh` first; what of `old` it does not hold, after it.
function merged<T>(fresh: T[], old: T[], idOf: (row: T) => string): T[] {
  const known = new Set(fresh.map(idOf));
  return [...fresh, ...old.filter((row) => !known.has(idOf(row)))];
}

export function useCursorList<T>({
  key,
  fetch,
  idOf,
  refresh,
}: {
  key: string[];
  fetch: (cursor: string | undefined) => Promise<CursorPage<T>>;
  idOf: (row: T) => string;
  refresh: number | false;
}): { rows: T[]; total: number; pending: boolean; error: unknown; older: Older } {
  const scope = key.join("/");
  const head = useQuery({
    queryKey: key,
    queryFn: () => fetch(undefined),
    refetchInterval: refresh,
    placeholderData: keepPreviousData,
  });
  const [kept, setKept] = useState<Kept<T>>({ scope, rows: [], reached: false });
  useEffect(() => {
    if (!head.data || head.isPlaceholderData) return;
    const { rows, next } = head.data;
    setKept((old) =>
      old.scope === scope
        ? { ...old, rows: merged(rows, old.rows, idOf), next: old.reached ? old.next : next }
        : { scope, rows, next, reached: false },
    );
  }, [head.data, head.isPlaceholderData, scope, idOf]);
  const load = useMutation({
    mutationFn: (cursor: string) => fetch(cursor),
    onSuccess: (page) => setKept((old) => ({ ...old, rows: merged(old.rows, page.rows, idOf), next: page.next, reached: true })),
  });
  const { mutate, isPending } = load;
  const next = kept.next;
  const failed = load.isError;
  const older = useMemo(
    () => ({ more: next !== undefined, loading: isPending, failed, load: () => next !== undefined && mutate(next) }),
    [next, isPending, failed, mutate],
  );
  return { rows: kept.rows, total: head.data?.total ?? 0, pending: head.isPending, error: head.error ?? load.error, older };
}
