// A change in a dialog: its fields, what would happen, and where something would be removed the name to type. Deleting, scaling,
// rebooting, switching features: they differ in fields and words only.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Modal from "@cloudscape-design/components/modal";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import { type ReactNode, useState } from "react";
import { useNavigate } from "react-router-dom";

import type { Problem } from "./api";
import { useNotify } from "./notify";
import { PlanFacts } from "./plan_view";
import { type Send, usePlanned } from "./planned";
import { ProblemAlert } from "./problem_alert";
import type { Plan } from "./types";

function Consequences({ plan, planning }: { plan?: Plan; planning: boolean }) {
  if (!plan)
    return planning ? (
      <Box color="text-body-secondary">
        <Spinner /> Asking what this would do
      </Box>
    ) : null;
  if (plan.no_change) return <Alert type="info">It already is as asked; nothing would be done.</Alert>;
  return <PlanFacts plan={plan} />;
}

export function PlannedDialog({
  title,
  intro,
  asked,
  send,
  action,
  complete = true,
  follow = false,
  size = "medium",
  onDismiss,
  onStarted,
  children,
}: {
  title: string;
  intro?: ReactNode;
  action: string;
  complete?: boolean;
  // Go to the operation's page when it has started, instead of staying here with a note.
  follow?: boolean;
  // What is asked, as text: another text is another intention.
  asked: string;
  send: Send;
  size?: "medium" | "large";
  onDismiss: () => void;
  onStarted?: () => void;
  children?: (problem: Problem | undefined) => ReactNode;
}) {
  const [typed, setTyped] = useState("");
  const navigate = useNavigate();
  const notify = useNotify();
  const { plan, planning, start, starting, error, problem } = usePlanned({
    asked,
    send,
    auto: complete,
    onStarted: (operation) => {
      onDismiss();
      onStarted?.();
      if (follow) navigate(`/operations/${operation.id}`);
      else notify(operation);
    },
  });
  const wanted = plan && !plan.no_change ? plan.confirm : undefined;
  const ready = complete && plan !== undefined && !plan.no_change && (!wanted || typed === wanted);
  return (
    <Modal
      visible
      size={size}
      onDismiss={onDismiss}
      closeAriaLabel="Close"
      header={title}
      footer={
        <Box float="right">
          <SpaceBetween direction="horizontal" size="xs">
            <Button variant="link" onClick={onDismiss}>
              Cancel
            </Button>
            <Button variant="primary" disabled={!ready} loading={starting} onClick={() => start(wanted ? typed : undefined)}>
              {action}
            </Button>
          </SpaceBetween>
        </Box>
      }
    >
      <SpaceBetween size="m">
        {intro && <Box>{intro}</Box>}
        {children?.(problem)}
        <ProblemAlert error={error} />
        <div aria-live="polite">
          <Consequences plan={plan} planning={planning} />
        </div>
        {wanted && (
          <FormField label={`Type ${wanted} to confirm`}>
            <Input value={typed} onChange={(event) => setTyped(event.detail.value)} autoComplete={false} placeholder={wanted} />
          </FormField>
        )}
      </SpaceBetween>
    </Modal>
  );
}
