// A form in two steps: the plan of what was asked, then doing it. Used by every creating page.
import Button from "@cloudscape-design/components/button";
import Form from "@cloudscape-design/components/form";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import { type ReactNode, useEffect, useRef } from "react";
import { useNavigate } from "react-router-dom";

import type { Problem } from "./api";
import { PlanView } from "./plan_view";
import { type Send, usePlanned } from "./planned";
import { ProblemAlert } from "./problem_alert";

export function PlannedForm({
  title,
  description,
  asked,
  send,
  complete,
  action,
  children,
}: {
  title: string;
  description: string;
  complete: boolean;
  action: string;
  // What is asked, as text: another text is another intention.
  asked: string;
  send: Send;
  children: (problem: Problem | undefined) => ReactNode;
}) {
  const navigate = useNavigate();
  const form = useRef<HTMLFormElement>(null);
  const planned = usePlanned({ asked, send, auto: false, onStarted: (operation) => navigate(`/operations/${operation.id}`) });
  // The first field that was refused gets the focus, as after any refused form.
  useEffect(() => {
    if (planned.problem) form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
  }, [planned.problem]);
  return (
    <form ref={form} onSubmit={(event) => event.preventDefault()}>
      <Form
        header={
          <Header variant="h1" description={description}>
            {title}
          </Header>
        }
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button formAction="none" variant="link" onClick={() => navigate(-1)}>
              Cancel
            </Button>
            <Button
              formAction="none"
              disabled={!complete}
              loading={planned.planning}
              variant={planned.plan ? "normal" : "primary"}
              onClick={planned.show}
            >
              Show the plan
            </Button>
            {planned.plan && (
              <Button formAction="none" variant="primary" loading={planned.starting} onClick={() => planned.start()}>
                {action}
              </Button>
            )}
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          {children(planned.problem)}
          <ProblemAlert error={planned.error} />
          <div aria-live="polite">{planned.plan && <PlanView plan={planned.plan} />}</div>
        </SpaceBetween>
      </Form>
    </form>
  );
}
