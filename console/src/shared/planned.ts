// The two halves of every change: its plan (a dry run), then the change itself. Used by forms (planned_form) and dialogs
// (planned_dialog). A plan that was shown goes with the change, so what the user saw is what happens, or it is refused.
import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";

import { newKey, Problem, take } from "./api";
import type { Operation, Plan } from "./types";

export interface SendOptions {
  dry_run?: boolean;
  confirm?: string;
  expected_plan?: string;
}
export type Send = (options: SendOptions, key: string) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

const kPauseMilliseconds = 400;

// `asked` is what is asked, as text: another text is another intention, with a key and a plan of its own. With `auto` the plan
// follows what is typed, after a pause; else `show` asks for it.
export function usePlanned({
  asked,
  send,
  auto,
  onStarted,
}: {
  asked: string;
  send: Send;
  auto: boolean;
  onStarted: (operation: Operation) => void;
}) {
  const [shown, setShown] = useState<string>();
  const [key, setKey] = useState(newKey);
  const first = useRef(true);
  const plan = useQuery({
    queryKey: ["plan", asked],
    queryFn: () => take<{ plan: Plan }>(send({ dry_run: true }, newKey())),
    enabled: shown === asked,
    retry: false,
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const { refetch } = plan;
  const value = shown === asked ? plan.data?.plan : undefined;
  const start = useMutation({
    mutationFn: (confirm: string | undefined) =>
      take<{ operation: Operation }>(
        send({ ...(confirm ? { confirm } : {}), ...(value?.plan_digest ? { expected_plan: value.plan_digest } : {}) }, key),
      ),
    onSuccess: (answer) => onStarted(answer.operation),
    onError: (error) => error instanceof Problem && error.code === "plan_changed" && void refetch(),
  });
  const { reset } = start;
  useEffect(() => {
    reset();
    setKey(newKey());
    if (!auto) return setShown(undefined);
    const timer = setTimeout(() => setShown(asked), first.current ? 0 : kPauseMilliseconds);
    first.current = false;
    return () => clearTimeout(timer);
  }, [asked, auto, reset]);
  const error = start.error ?? (shown === asked ? plan.error : null);
  return {
    plan: value,
    planning: auto ? value === undefined && plan.error === null : shown === asked && plan.isFetching,
    show: () => (shown === asked ? void refetch() : setShown(asked)),
    start: (confirm?: string) => start.mutate(confirm),
    starting: start.isPending,
    error,
    problem: error instanceof Problem ? error : undefined,
  };
}
