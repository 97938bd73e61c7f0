// A picture of the steps over time: what ran beside what, and what the operation waited for.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";

import { between, duration } from "../../shared/format";
import type { Step, StepState } from "../../shared/types";

const kColours: Record<StepState, string> = {
  pending: "#8c8c94", running: "#006ce0", waiting: "#855900", succeeded: "#00802f", skipped: "#8c8c94", failed: "#db0000", cancelled: "#656871",
};
const kRow = 18;
const kLabel = 250;
const kWidth = 1000;

export function Timeline({ steps }: { steps: Step[] }) {
  const begun = steps.filter((step) => step.started_at).sort((a, b) => Date.parse(a.started_at!) - Date.parse(b.started_at!));
  if (begun.length < 2) return null;
  const first = Date.parse(begun[0]!.started_at!);
  const last = Math.max(...begun.map((step) => (step.ended_at ? Date.parse(step.ended_at) : Date.now())), first + 1000);
  const scale = (kWidth - kLabel - 10) / (last - first);
  const height = begun.length * kRow + 24;
  return (
    <Container header={<Header variant="h2" description="Steps that do not need each other run side by side">Timeline</Header>}>
      <ExpandableSection defaultExpanded headerText={`${begun.length} steps over ${duration((last - first) / 1000)}`}>
        <svg viewBox={`0 0 ${kWidth} ${height}`} width="100%" role="img" aria-label="Timeline of the steps; the table below has the same figures">
          {begun.map((step, index) => {
            const start = Date.parse(step.started_at!);
            const stop = step.ended_at ? Date.parse(step.ended_at) : Date.now();
            const y = index * kRow;
            return (
              <g key={step.id}>
                <title>{`${step.title}: ${step.state}, ${between(step.started_at, step.ended_at)}`}</title>
                <text x={kLabel - 8} y={y + 13} textAnchor="end" fontSize={11} fill="currentColor">{step.title.length > 42 ? `${step.title.slice(0, 41)}…` : step.title}</text>
                <rect x={kLabel + (start - first) * scale} y={y + 3} width={Math.max(3, (stop - start) * scale)} height={kRow - 6} rx={3} fill={kColours[step.state]} />
              </g>
            );
          })}
          <line x1={kLabel} x2={kWidth - 10} y1={height - 18} y2={height - 18} stroke="currentColor" strokeOpacity={0.3} />
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <text key={part} x={kLabel + part * (kWidth - kLabel - 10)} y={height - 4} fontSize={10} fill="currentColor" textAnchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}>
              {duration(((last - first) * part) / 1000)}
            </text>
          ))}
        </svg>
        <Box variant="small" color="text-body-secondary">Green: done · blue: running · brown: waiting · red: failed</Box>
      </ExpandableSection>
    </Container>
  );
}
