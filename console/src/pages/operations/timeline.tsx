// A picture of the steps over time: what ran beside what, and what the operation waited for.
import Box from "@cloudscape-design/components/box";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";

import { type Colour, kColours } from "../../shared/colours";
import { between, duration } from "../../shared/format";
import type { Step, StepState } from "../../shared/types";

const kStates: Record<StepState, Colour> = {
  pending: "idle",
  running: "moving",
  waiting: "waiting",
  succeeded: "good",
  skipped: "idle",
  failed: "bad",
  cancelled: "idle",
};
const kRow = 18;
const kLabel = 250;
const kWidth = 1000;
// The newest bars of a long operation; the table below has all.
const kMostBars = 150;

// Tenths of a second where whole ones would all look the same.
const kShortSeconds = 10;
const tick = (seconds: number, all: number) => (all < kShortSeconds ? `${seconds.toFixed(1)} s` : duration(seconds));

export function Timeline({ steps }: { steps: Step[] }) {
  const begun = steps
    .filter((step) => step.started_at)
    .sort((a, b) => Date.parse(a.started_at!) - Date.parse(b.started_at!))
    .slice(-kMostBars);
  if (begun.length < 2) return null;
  const first = Date.parse(begun[0]!.started_at!);
  const last = Math.max(...begun.map((step) => (step.ended_at ? Date.parse(step.ended_at) : Date.now())), first + 1000);
  const scale = (kWidth - kLabel - 10) / (last - first);
  const height = begun.length * kRow + 24;
  return (
    <Container
      header={
        <Header variant="h2" description="Steps that do not need each other run side by side">
          Timeline
        </Header>
      }
    >
      <ExpandableSection defaultExpanded headerText={`${begun.length} steps over ${duration((last - first) / 1000)}`}>
        <svg
          viewBox={`0 0 ${kWidth} ${height}`}
          width="100%"
          role="img"
          aria-label="Timeline of the steps; the table below has the same figures"
        >
          {begun.map((step, index) => {
            const start = Date.parse(step.started_at!);
            const stop = step.ended_at ? Date.parse(step.ended_at) : Date.now();
            const y = index * kRow;
            return (
              <g key={step.id}>
                <title>{`${step.title}: ${step.state}, ${between(step.started_at, step.ended_at)}`}</title>
                <text x={kLabel - 8} y={y + 13} textAnchor="end" fontSize={11} fill="currentColor">
                  {step.title.length > 42 ? `${step.title.slice(0, 41)}…` : step.title}
                </text>
                <rect
                  x={kLabel + (start - first) * scale}
                  y={y + 3}
                  width={Math.max(3, (stop - start) * scale)}
                  height={kRow - 6}
                  rx={3}
                  fill={kColours[kStates[step.state]]}
                />
              </g>
            );
          })}
          <line x1={kLabel} x2={kWidth - 10} y1={height - 18} y2={height - 18} stroke="currentColor" strokeOpacity={0.3} />
          {[0, 0.25, 0.5, 0.75, 1].map((part) => (
            <text
              key={part}
              x={kLabel + part * (kWidth - kLabel - 10)}
              y={height - 4}
              fontSize={10}
              fill="currentColor"
              textAnchor={part === 0 ? "start" : part === 1 ? "end" : "middle"}
            >
              {tick(((last - first) * part) / 1000, (last - first) / 1000)}
            </text>
          ))}
        </svg>
        <Box variant="small" color="text-body-secondary">
          Green: done · blue: running · brown: waiting · red: failed
        </Box>
      </ExpandableSection>
    </Container>
  );
}
