// One WebSocket for the whole console. What it tells refreshes the query cache; when it breaks it comes back by itself.
import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { isTerminal, type Operation } from "./types";

interface Message {
  topic: string;
  sequence: number;
  event: string;
  data: unknown;
}

export type StreamState = "connecting" | "live" | "broken";

const kRefreshMilliseconds = 1_000;

// Queries that messages made stale, asked anew at most once a second however many messages come.
class Refresher {
  private readonly keys = new Map<string, string[]>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  constructor(private readonly queries: QueryClient) {}

  add(...key: string[]) {
    this.keys.set(key.join("/"), key);
    this.timer ??= setTimeout(() => this.flush(), kRefreshMilliseconds);
  }
  stop() {
    clearTimeout(this.timer);
  }
  private flush() {
    this.timer = undefined;
    for (const queryKey of this.keys.values()) void this.queries.invalidateQueries({ queryKey });
    this.keys.clear();
  }
}

function takeOperation(queries: QueryClient, refresher: Refresher, operation: Operation) {
  const isNew = queries.getQueryData(["operation", operation.id]) === undefined;
  queries.setQueryData(["operation", operation.id], { operation });
  refresher.add("operations");
  if (operation.resource?.startsWith("cluster/")) {
    const cluster = operation.resource.split("/")[1] ?? "";
    refresher.add("clusters");
    refresher.add("cluster", cluster);
    if (isTerminal(operation.state) || isNew) refresher.add("features", cluster);
  }
}

function take(queries: QueryClient, refresher: Refresher, message: Message) {
  if (message.topic === "operations" && message.data && typeof message.data === "object") {
    const data = message.data as { operation?: Operation } & Operation;
    const operation = data.operation ?? data;
    if (operation.id) takeOperation(queries, refresher, operation);
  } else if (message.topic === "clusters") {
    const named = (message.data as { cluster?: string } | undefined)?.cluster;
    refresher.add("clusters");
    if (named) refresher.add("cluster", named);
    else refresher.add("cluster");
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
    const refresher = new Refresher(queries);
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
          take(queries, refresher, JSON.parse(event.data as string) as Message);
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
      refresher.stop();
      socket?.close();
    };
  }, [enabled, queries]);
  return state;
}
