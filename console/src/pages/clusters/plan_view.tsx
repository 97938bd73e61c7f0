// A plan before it is done: what would be made, changed and removed, by which steps, against which quotas.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Table from "@cloudscape-design/components/table";

import type { Plan } from "../../shared/types";

const warningText = (warning: NonNullable<Plan["warnings"]>[number]) =>
  typeof warning === "string" ? warning : (warning.text ?? warning.message ?? warning.code ?? "");

function Sentences({ title, items }: { title: string; items?: string[] }) {
  if (!items?.length) return null;
  return (
    <div>
      <Box variant="awsui-key-label">{title}</Box>
      <ul>
        {items.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </div>
  );
}

export function PlanView({ plan }: { plan: Plan }) {
  const cost = plan.cost && Object.keys(plan.cost).length > 0 ? plan.cost : undefined;
  return (
    <Container header={<Header variant="h2" description="Nothing has been made yet">Plan</Header>}>
      <SpaceBetween size="m">
        {plan.no_change && <Alert type="info">The account already is as asked; nothing would be done.</Alert>}
        {(plan.warnings ?? []).map((warning) => (
          <Alert key={warningText(warning)} type="warning">{warningText(warning)}</Alert>
        ))}
        <ColumnLayout columns={2} variant="text-grid">
          <Sentences title="Creates" items={plan.creates} />
          <Sentences title="Changes" items={plan.changes} />
          <Sentences title="Removes" items={plan.removes} />
          {cost && <Sentences title="Cost" items={Object.entries(cost).map(([key, value]) => `${key.replaceAll("_", " ")}: ${String(value)}`)} />}
        </ColumnLayout>
        {(plan.quota ?? []).length > 0 && (
          <Table
            variant="embedded"
            ariaLabels={{ tableLabel: "Quotas" }}
            items={plan.quota ?? []}
            columnDefinitions={[
              { id: "name", header: "Quota", cell: (each) => each.name, isRowHeader: true },
              { id: "limit", header: "Limit", cell: (each) => each.limit ?? "–" },
              { id: "used", header: "Used", cell: (each) => each.used ?? "–" },
              { id: "needed", header: "Needed", cell: (each) => each.needed ?? "–" },
            ]}
          />
        )}
        <ExpandableSection headerText={`${plan.steps?.length ?? 0} steps`} defaultExpanded={(plan.steps?.length ?? 0) <= 12}>
          <ol>
            {(plan.steps ?? []).map((step) => (
              <li key={step.id}>{step.title}</li>
            ))}
          </ol>
        </ExpandableSection>
      </SpaceBetween>
    </Container>
  );
}
