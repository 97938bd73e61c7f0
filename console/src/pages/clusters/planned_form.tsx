// A form in two steps: the plan of what was asked, then doing it. Used by every creating page.
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { useMutation } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { useNavigate } from "react-router-dom";

import { newKey, Problem, take } from "../../shared/api";
import { ProblemAlert } from "../../shared/problem_alert";
import type { Operation, Plan } from "../../shared/types";
import { PlanView } from "./plan_view";

type Answer = Promise<{ data?: unknown; error?: unknown; response: Response }>;

export function PlannedForm({ title, description, asked, send, complete, action, children }: {
  title: string; description: string; complete: boolean; action: string;
  // What is asked, as text: another text is another intention.
  asked: string;
  send: (options: { dry_run?: boolean }, key: string) => Answer;
  children: (problem: Problem | undefined) => ReactNode;
}) {
  const navigate = useNavigate();
  // A new body is a new intention, so a new key; pressing twice on the same body starts nothing twice.
  const [key, setKey] = useState(newKey);
  const plan = useMutation({ mutationFn: () => take<{ plan: Plan }>(send({ dry_run: true }, newKey())) });
  const start = useMutation({
    mutationFn: () => take<{ operation: Operation }>(send({}, key)),
    onSuccess: (answer) => navigate(`/operations/${answer.operation.id}`),
  });
  const { reset: forgetPlan } = plan;
  const { reset: forgetStart } = start;
  useEffect(() => {
    forgetPlan();
    forgetStart();
    setKey(newKey());
  }, [asked, forgetPlan, forgetStart]);
  const error = start.error ?? plan.error;
  const problem = error instanceof Problem ? error : undefined;
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <Form
        header={<Header variant="h1" description={description}>{title}</Header>}
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button formAction="none" variant="link" onClick={() => navigate(-1)}>Cancel</Button>
            <Button formAction="none" disabled={!complete} loading={plan.isPending} variant={plan.data ? "normal" : "primary"} onClick={() => plan.mutate()}>Show the plan</Button>
            {plan.data && <Button formAction="none" variant="primary" loading={start.isPending} onClick={() => start.mutate()}>{action}</Button>}
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          {children(problem)}
          <ProblemAlert error={error} />
          <div aria-live="polite">{plan.data && <PlanView plan={plan.data.plan} />}</div>
        </SpaceBetween>
      </Form>
    </form>
  );
}
