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
  // The message for one field of a form, with what would have been accepted; also where only a part of the field is at fault.
  field(pointer: string): string | undefined {
    return textOf(
      this.fields.find((each) => each.pointer === pointer) ?? this.fields.find((each) => each.pointer.startsWith(pointer + "/")),
    );
  }
  // For a field whose parts show their own.
  exactly(pointer: string): string | undefined {
    return textOf(this.fields.find((each) => each.pointer === pointer));
  }
}

function textOf(found: FieldProblem | undefined): string | undefined {
  if (!found) return undefined;
  const nearest = found.did_you_mean ? ` Did you mean ${found.did_you_mean}?` : "";
  const allowed = !nearest && found.allowed?.length ? ` Allowed: ${found.allowed.slice(0, 8).join(", ")}.` : "";
  return found.message + nearest + allowed;
}

export function toProblem(status: number, body: unknown): Problem {
  const problem = (body && typeof body === "object" ? body : {}) as Record<string, unknown>;
  const text = (key: string, fallback = "") => (typeof problem[key] === "string" ? (problem[key] as string) : fallback);
  const fields = Array.isArray(problem.errors) ? (problem.errors as FieldProblem[]) : [];
  return new Problem(
    status,
    text("code", "unknown"),
    text("title", `Status ${status}`),
    text("detail"),
    text("hint"),
    fields,
    problem,
  );
}

// Paths, parameters and bodies are checked against the contract when the console is built.
export const client = createClient<paths>({ baseUrl: "/api/v1", credentials: "same-origin" });

// The body of an answer in the shape that shared/types.ts names, or its problem thrown.
export async function take<T>(answer: Promise<{ data?: unknown; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await answer;
  if (!response.ok) throw toProblem(response.status, error);
  return data as T;
}

// What a changing request carries so that a lost answer may be asked for again.
export const withKey = (key: string) => ({ header: { "Idempotency-Key": key } });

// Signing in and out, which are no operations and so not in the catalogue.
export async function request<T>(method: "POST" | "DELETE", path: "/session", body?: unknown): Promise<T> {
  const answer = await fetch("/api/v1" + path, {
    method,
    credentials: "same-origin",
    headers: { Accept: "application/json", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
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

// A key per intention of the user: pressing twice, or a lost answer, starts nothing twice.
export const newKey = () => crypto.randomUUID();
