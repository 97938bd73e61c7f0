// Notes above the page about operations that were started from a table or a dialog: each follows its operation to the end.
import Flashbar, { type FlashbarProps } from "@cloudscape-design/components/flashbar";
import { useQueries } from "@tanstack/react-query";
import { createContext, type ReactNode, useCallback, useContext, useState } from "react";

import { Link } from "./link";
import { operationQuery } from "./queries";
import { isTerminal, type Operation } from "./types";

const kMost = 5;
const Notify = createContext<(operation: Operation) => void>(() => undefined);
const Shown = createContext<{ operations: Operation[]; dismiss: (id: string) => void }>({
  operations: [],
  dismiss: () => undefined,
});

export const useNotify = () => useContext(Notify);

export function NotifyProvider({ children }: { children: ReactNode }) {
  const [operations, setOperations] = useState<Operation[]>([]);
  const notify = useCallback(
    (operation: Operation) =>
      setOperations((old) => [operation, ...old.filter((each) => each.id !== operation.id)].slice(0, kMost)),
    [],
  );
  const dismiss = useCallback((id: string) => setOperations((old) => old.filter((each) => each.id !== id)), []);
  return (
    <Notify.Provider value={notify}>
      <Shown.Provider value={{ operations, dismiss }}>{children}</Shown.Provider>
    </Notify.Provider>
  );
}

function sentence(operation: Operation): string {
  if (operation.no_change) return "nothing had to be changed.";
  if (operation.state === "succeeded") return "done.";
  if (operation.state === "failed") return `failed: ${operation.error?.detail ?? operation.error?.code ?? "see its steps"}`;
  if (operation.state === "cancelled") return "cancelled.";
  const share = Math.round((operation.progress ?? 0) * 100);
  return `${operation.phase?.replaceAll("_", " ") ?? operation.state}, ${share} %`;
}

const typeOf = (operation: Operation): FlashbarProps.Type =>
  operation.state === "succeeded"
    ? "success"
    : operation.state === "failed"
      ? "error"
      : operation.state === "cancelled"
        ? "warning"
        : "info";

export function Notifications() {
  const { operations, dismiss } = useContext(Shown);
  const current = useQueries({
    queries: operations.map((operation) => operationQuery(operation.id)),
    combine: (results) => operations.map((operation, index) => results[index]?.data?.operation ?? operation),
  });
  const items = current.map((operation): FlashbarProps.MessageDefinition => ({
    id: operation.id,
    type: typeOf(operation),
    loading: !isTerminal(operation.state),
    dismissible: true,
    dismissLabel: "Dismiss",
    onDismiss: () => dismiss(operation.id),
    content: (
      <>
        {operation.name} on {operation.resource}: {sentence(operation)}{" "}
        <Link to={`/operations/${operation.id}`} inverted>
          Steps
        </Link>
      </>
    ),
  }));
  return <Flashbar items={items} stackItems />;
}
