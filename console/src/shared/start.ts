// Starts what needs no form and shows its progress.
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router-dom";

import { newKey } from "./api";
import type { Operation } from "./types";

export function useStart(send: (key: string) => Promise<{ operation: Operation }>) {
  const navigate = useNavigate();
  return useMutation({ mutationFn: () => send(newKey()), onSuccess: (answer) => navigate(`/operations/${answer.operation.id}`) });
}
