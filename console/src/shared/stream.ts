// One WebSocket for the whole console. What it tells refreshes the query cache; when it breaks it comes back by itself.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import type { Operation } from "./types";

interface Message {
  topic: string;
  sequence: number;
  event: string;
  data: unknown;
}

export type StreamState = "connecting" | "live" | "broken";

function takeOperation(queries: QueryClient, operation: Operation) {
  queries.setQueryData(["operation", operation.id], { operation });
  void queries.invalidateQueries({ queryKey: ["operations"] });
  if (operation.resource?.startsWith("cluster/")) {
    void queries.invalidateQueries({ queryKey: ["clusters"] });
    void queries.invalidateQueries({ queryKey: ["cluster", operation.resource.split("/")[1]] });
  }
}

function take(queries: QueryClient, message: Message) {
  if (message.topic === "operations" && message.data && typeof message.data === "object") {
    const data = message.data as { operation?: Operation } & Operation;
    const operation = data.operation ?? data;
    if (operation.id) takeOperation(queries, operation);
  } else if (message.topic === "clusters") {
    void queries.invalidateQueries({ queryKey: ["clusters"] });
    void queries.invalidateQueries({ queryKey: ["cluster"] });
  }
}

export function useStream(enabled: boolean): StreamState {
  const queries = useQueryClient();
  const [state, setState] = useState<StreamState>("connecting");
  useEffect(() => {
    if (!enabled) return;
    let socket: WebSocket | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let delay = 500;
    let stopped = false;
    const connect = () => {
      socket = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/stream`);
      socket.onopen = () => {
        delay = 500;
        setState("live");
        for (const topic of ["operations", "clusters"]) socket?.send(JSON.stringify({ subscribe: topic }));
        void queries.invalidateQueries();
      };
      socket.onmessage = (event) => {
        try {
          take(queries, JSON.parse(event.data as string) as Message);
        } catch {
          // A message that is not ours is left alone; the queries' own refresh still holds.
        }
      };
      socket.onclose = () => {
        if (stopped) return;
        setState("broken");
        timer = setTimeout(connect, delay);
        delay = Math.min(delay * 2, 15_000);
      };
    };
    connect();
    return () => {
      stopped = true;
      clearTimeout(timer);
      socket?.close();
    };
  }, [enabled, queries]);
  return state;
}
