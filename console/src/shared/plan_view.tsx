// A plan before it is done: what would be made, changed and removed, by which steps, against which quotas.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";

import { CostView } from "./cost_view";
import { sentence } from "./format";
import type { Plan } from "./types";

const warningText = (warning: NonNullable<Plan["warnings"]>[number]) =>
  typeof warning === "string" ? warning : (warning.text ?? warning.message ?? warning.code ?? "");

const kFewSteps = 12;

function Sentences({ title, items }: { title: string; items?: string[] }) {
  return (
    <div>
      <Box variant="awsui-key-label">{title}</Box>
      <ul>
        {items?.map((each) => (
          <li key={each} style={{ overflowWrap: "anywhere" }}>
            {sentence(each)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Quotas({ plan }: { plan: Plan }) {
  if (!plan.quota?.length) return null;
  return (
    <Table
      variant="embedded"
      contentDensity="compact"
      wrapLines
      ariaLabels={{ tableLabel: "Quotas" }}
      items={plan.quota}
      columnDefinitions={[
        { id: "name", header: "Quota", cell: (each) => each.name, isRowHeader: true },
        { id: "limit", header: "Limit", cell: (each) => each.limit ?? "–" },
        { id: "used", header: "Used", cell: (each) => each.used ?? "–" },
        { id: "needed", header: "Needed", cell: (each) => each.needed ?? "–" },
        { id: "free", header: "Free", cell: (each) => each.free ?? "–" },
      ]}
    />
  );
}

// What the nodes may take of their subnets.
function Addresses({ plan }: { plan: Plan }) {
  if (!plan.addresses?.length) return null;
  return (
    <Table
      variant="embedded"
      contentDensity="compact"
      wrapLines
      ariaLabels={{ tableLabel: "Addresses" }}
      items={plan.addresses}
      columnDefinitions={[
        { id: "subnet", header: "Addresses of", cell: (each) => each.subnet, isRowHeader: true },
        { id: "zone", header: "Zone", cell: (each) => each.zone },
        { id: "free", header: "Free", cell: (each) => each.free },
        { id: "needed", header: "Needed at most", cell: (each) => `${each.needed} (${each.figures})` },
      ]}
    />
  );
}

// The plan without a frame of its own, for dialogs.
export function PlanFacts({ plan }: { plan: Plan }) {
  const parts = [
    { title: "Removes", items: plan.removes },
    { title: "Creates", items: plan.creates },
    { title: "Changes", items: plan.changes },
  ].filter((each) => each.items?.length);
  const steps = plan.steps ?? [];
  return (
    <SpaceBetween size="m">
      {(plan.warnings ?? []).map((warning) => (
        <Alert key={warningText(warning)} type="warning">
          {sentence(warningText(warning))}
        </Alert>
      ))}
      {parts.length > 0 && (
        <ColumnLayout columns={plan.cost || parts.length > 1 ? 2 : 1} variant="text-grid">
          {parts.map((each) => (
            <Sentences key={each.title} {...each} />
          ))}
          {plan.cost && <CostView cost={plan.cost} />}
        </ColumnLayout>
      )}
      <Quotas plan={plan} />
      <Addresses plan={plan} />
      {steps.length > 0 && (
        <ExpandableSection
          headerText={steps.length === 1 ? "1 step" : `${steps.length} steps`}
          defaultExpanded={steps.length <= kFewSteps}
        >
          <ol>
            {steps.map((step) => (
              <li key={step.id}>{step.title}</li>
            ))}
          </ol>
        </ExpandableSection>
      )}
    </SpaceBetween>
  );
}

export function PlanView({ plan }: { plan: Plan }) {
  return (
    <Container
      header={
        <Header variant="h2" description="Nothing has been made yet">
          Plan
        </Header>
      }
    >
      <SpaceBetween size="m">
        {plan.no_change && <Alert type="info">The account already is as asked; nothing would be done.</Alert>}
        <PlanFacts plan={plan} />
      </SpaceBetween>
    </Container>
  );
}
