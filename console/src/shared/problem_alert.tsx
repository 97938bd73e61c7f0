// A problem document for people: what, why, what to do, and what had already been done.
import Alert from "@cloudscape-design/components/alert";

import { Problem } from "./api";

export function ProblemAlert({ error }: { error: unknown }) {
  if (!error) return null;
  if (!(error instanceof Problem)) {
    return (
      <Alert type="error" header="The control plane cannot be reached">
        {String(error)}
      </Alert>
    );
  }
  const changed = error.body.changed;
  return (
    <Alert type="error" header={error.title}>
      <div>{error.detail}</div>
      {error.fields.length > 0 && (
        <ul>
          {error.fields.map((field) => (
            <li key={field.pointer + field.message}>
              <code>{field.pointer || "/"}</code> {error.field(field.pointer)}
            </li>
          ))}
        </ul>
      )}
      {error.hint && <div>{error.hint}</div>}
      {changed !== undefined && changed !== false && <div>Already done: {JSON.stringify(changed)}</div>}
      <small>
        {error.code} · {error.status}
      </small>
    </Alert>
  );
}
