// The queries of the console, one hook each. Lists are bounded by the server; live messages invalidate them (stream.ts).
import { useQueries, useQuery } from "@tanstack/react-query";

import { client, take } from "./api";
import type {
  AuditEntry, Cluster, Dependency, Environment, EventRecord, InstanceType, Node, Operation, Storage, Zone,
} from "./types";
import { isTerminal } from "./types";

const at = (cluster: string) => ({ params: { path: { cluster } } });

export const useEnvironment = () =>
  useQuery({ queryKey: ["environment"], queryFn: () => take<{ environment: Environment }>(client.GET("/environment")), refetchInterval: 30_000 });

export const useClusters = () =>
  useQuery({ queryKey: ["clusters"], queryFn: () => take<{ clusters: Cluster[]; total?: number }>(client.GET("/clusters")), refetchInterval: 15_000 });

export const useCluster = (name: string) =>
  useQuery({ queryKey: ["cluster", name], queryFn: () => take<{ cluster: Cluster }>(client.GET("/clusters/{cluster}", at(name))), refetchInterval: 10_000 });

// The full view of each of some clusters, for totals over the fleet.
export const useClusterDetails = (names: string[]) =>
  useQueries({
    queries: names.map((name) => ({ queryKey: ["cluster", name], queryFn: () => take<{ cluster: Cluster }>(client.GET("/clusters/{cluster}", at(name))), refetchInterval: 15_000 })),
    combine: (results) => results.flatMap((each) => (each.data ? [each.data.cluster] : [])),
  });

export const useNodes = (name: string, cursor: string) =>
  useQuery({
    queryKey: ["cluster", name, "nodes", cursor],
    queryFn: () =>
      take<{ nodes: Node[]; total?: number; next_cursor?: string }>(
        client.GET("/clusters/{cluster}/nodes", { params: { path: { cluster: name }, query: { limit: 50, ...(cursor ? { cursor } : {}) } } }),
      ),
    refetchInterval: 10_000,
  });

export const useDependencies = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "dependencies"],
    queryFn: () => take<{ dependencies: Dependency[] }>(client.GET("/clusters/{cluster}/dependencies", at(name))),
    refetchInterval: 20_000,
  });

export const useStorages = (name: string) =>
  useQuery({ queryKey: ["cluster", name, "storages"], queryFn: () => take<{ storages: Storage[] }>(client.GET("/clusters/{cluster}/storages", at(name))) });

export const useEvents = (name: string) =>
  useQuery({
    queryKey: ["cluster", name, "events"],
    queryFn: () => take<{ events: EventRecord[] }>(client.GET("/clusters/{cluster}/events", { params: { path: { cluster: name }, query: { limit: 100 } } })),
    refetchInterval: 10_000,
  });

export const useOperations = (resource = "") =>
  useQuery({
    queryKey: ["operations", resource],
    queryFn: () =>
      take<{ operations: Operation[]; total?: number; next_cursor?: string }>(
        client.GET("/operations", { params: { query: { limit: 100, ...(resource ? { resource } : {}) } } }),
      ),
    refetchInterval: 15_000,
  });

export const useOperation = (id: string) =>
  useQuery({
    queryKey: ["operation", id],
    queryFn: () => take<{ operation: Operation }>(client.GET("/operations/{operation_id}", { params: { path: { operation_id: id } } })),
    // The stream brings changes; this is the net below it.
    refetchInterval: (query) => (query.state.data && isTerminal(query.state.data.operation.state) ? false : 5_000),
  });

export const useInstanceTypes = () =>
  useQuery({ queryKey: ["types"], queryFn: () => take<{ instance_types: InstanceType[] }>(client.GET("/instance-types")), staleTime: 600_000 });

export const useZones = (type: string) =>
  useQuery({
    queryKey: ["zones", type],
    queryFn: () => take<{ zones: Zone[] }>(client.GET("/zones", { params: { query: type ? { instance_type: type } : {} } })),
    staleTime: 600_000,
  });

export const useAudit = () =>
  useQuery({ queryKey: ["audit"], queryFn: () => take<{ audit: AuditEntry[] }>(client.GET("/audit", { params: { query: { limit: 100 } } })) });
