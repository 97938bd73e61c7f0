// The one way to the backend: the typed client made from the OpenAPI document, and its problem documents as errors.
import createClient from "openapi-fetch";

import type { paths } from "../generated/api";

export interface FieldProblem {
  pointer: string;
  message: string;
  allowed?: string[];
  did_you_mean?: string;
}

// An RFC 9457 problem document, thrown by every query and mutation that fails.
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly hint: string,
    readonly fields: FieldProblem[],
    readonly body: Record<string, unknown>,
  ) {
    super(detail || title);
  }
  // The message for one field of a form, with what would have been accepted.
  field(pointer: string): string | undefined {
    const found = this.fields.find((each) => each.pointer === pointer || each.pointer.startsWith(pointer + "/"));
    if (!found) return undefined;
    const nearest = found.did_you_mean ? ` Did you mean ${found.did_you_mean}?` : "";
    const allowed = !nearest && found.allowed?.length ? ` Allowed: ${found.allowed.slice(0, 8).join(", ")}.` : "";
    return found.message + nearest + allowed;
  }
}

export function toProblem(status: number, body: unknown): Problem {
  const problem = (body && typeof body === "object" ? body : {}) as Record<string, unknown>;
  const text = (key: string, fallback = "") => (typeof problem[key] === "string" ? (problem[key] as string) : fallback);
  const fields = Array.isArray(problem.errors) ? (problem.errors as FieldProblem[]) : [];
  return new Problem(status, text("code", "unknown"), text("title", `Status ${status}`), text("detail"), text("hint"), fields, problem);
}

export const client = createClient<paths>({ baseUrl: "/api/v1", credentials: "same-origin" });

type Method = "GET" | "POST" | "PATCH" | "DELETE";

// A request by method and path where the caller reads a shape that shared/types.ts names.
export async function request<T>(method: Method, path: string, body?: unknown, headers?: Record<string, string>): Promise<T> {
  const answer = await fetch("/api/v1" + path, {
    method,
    credentials: "same-origin",
    headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  let parsed: unknown = {};
  try {
    parsed = text ? JSON.parse(text) : {};
  } catch {
    parsed = { title: "The answer is not JSON", detail: text.slice(0, 200) };
  }
  if (!answer.ok) throw toProblem(answer.status, parsed);
  return parsed as T;
}

export const get = <T>(path: string) => request<T>("GET", path);

// A key per intention of the user: pressing twice, or a lost answer, starts nothing twice.
export const newKey = () => crypto.randomUUID();
