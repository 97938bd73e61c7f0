// The switches of a cluster: each feature with its state, its parts as a picture, and the operation that changes it.
import Alert from "@cloudscape-design/components/alert";
import Box from "@cloudscape-design/components/box";
import Button from "@cloudscape-design/components/button";
import Container from "@cloudscape-design/components/container";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import Header from "@cloudscape-design/components/header";
import ProgressBar from "@cloudscape-design/components/progress-bar";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Spinner from "@cloudscape-design/components/spinner";
import Toggle from "@cloudscape-design/components/toggle";
import { useState } from "react";

import { sentence, Status } from "../../shared/format";
import { Link } from "../../shared/link";
import { ProblemAlert } from "../../shared/problem_alert";
import { useFeatures, useRunning } from "../../shared/queries";
import type { Feature, Operation } from "../../shared/types";
import { type Change, FeatureDialog, titleOf } from "./feature_dialog";
import { OpenMlflow } from "./open_mlflow";
import { PartTree } from "./part_tree";
import { settingsOf } from "./settings";

const words = (name: string) => name.replaceAll("_", " ");
const statusOf = (feature: Feature) => feature.status ?? (feature.enabled ? "on" : "off");
// Wanted and not as it should be, with nothing on its way.
const isIll = (feature: Feature) =>
  feature.enabled === true && !["on", "working", "starting", "waiting_for_nodes"].includes(statusOf(feature));

function settingLine(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ");
  if (value && typeof value === "object")
    return Object.entries(value)
      .map(([key, each]) => `${key} ${String(each)}`)
      .join(", ");
  return String(value);
}

// The operation that moves this feature: the one it names, else one on it.
const operationOf = (feature: Feature, running: Operation[]) =>
  running.find((each) => each.id === feature.operation_id) ??
  running.find((each) => each.name === "feature.update" && each.resource.endsWith(`/feature/${feature.name}`));

function Progress({ operation }: { operation: Operation }) {
  return (
    <ProgressBar
      value={Math.round((operation.progress ?? 0) * 100)}
      label={`${operation.name}: ${words(operation.phase ?? operation.state)}`}
      additionalInfo={<Link to={`/operations/${operation.id}`}>Steps</Link>}
    />
  );
}

function Facts({ feature, titles }: { feature: Feature; titles: Map<string, string> }) {
  const named = (name: string) => titles.get(name) ?? words(name);
  const settings = Object.entries(feature.settings ?? {});
  return (
    <Box color="text-body-secondary" fontSize="body-s">
      {feature.requires?.length ? <div>Needs {feature.requires.map(named).join(", ")}.</div> : null}
      {feature.excludes?.map((each) => (
        <div key={each.feature}>
          Not together with {named(each.feature)}
          {each.reason ? `: ${each.reason}` : ""}.
        </div>
      ))}
      {feature.enabled && settings.length > 0 && (
        <div style={{ overflowWrap: "anywhere" }}>
          {settings.map(([key, value]) => `${words(key)}: ${settingLine(value)}`).join(" · ")}
        </div>
      )}
    </Box>
  );
}

function Reasons({ feature }: { feature: Feature }) {
  const reasons = feature.reasons ?? [];
  if (reasons.length === 0) return null;
  const lines = reasons.map((reason) => <div key={reason}>{sentence(reason)}</div>);
  if (!isIll(feature)) return <Box>{lines}</Box>;
  return <Alert type={statusOf(feature) === "failed" ? "error" : "warning"}>{lines}</Alert>;
}

function FeatureCard({
  cluster,
  feature,
  titles,
  running,
  onChange,
}: {
  cluster: string;
  feature: Feature;
  titles: Map<string, string>;
  running?: Operation;
  onChange: (change: Change) => void;
}) {
  const parts = feature.parts ?? [];
  const ready = parts.filter((part) => part.state === "ready" || part.state === "on").length;
  const status = statusOf(feature);
  const ill = isIll(feature);
  const title = titleOf(feature);
  const left = !feature.enabled && status === "drifted";
  return (
    <Container
      header={
        <Header
          variant="h2"
          description={feature.summary}
          actions={
            <SpaceBetween direction="horizontal" size="s" alignItems="center">
              {left && !running && (
                <Button onClick={() => onChange("off")} ariaLabel={`Remove what is left of ${title}`}>
                  Remove what is left
                </Button>
              )}
              {ill && !running && (
                <Button onClick={() => onChange("repair")} ariaLabel={`Repair ${title}`}>
                  Repair
                </Button>
              )}
              {feature.enabled && settingsOf(feature.name).length > 0 && (
                <Button disabled={running !== undefined} onClick={() => onChange("settings")} ariaLabel={`Settings of ${title}`}>
                  Settings
                </Button>
              )}
              <Status value={status} />
              <Toggle
                checked={feature.enabled ?? false}
                disabled={running !== undefined}
                ariaLabel={title}
                onChange={() => onChange(feature.enabled ? "off" : "on")}
              />
            </SpaceBetween>
          }
        >
          {title}
        </Header>
      }
    >
      <SpaceBetween size="s">
        {running && <Progress operation={running} />}
        <Reasons feature={feature} />
        <Facts feature={feature} titles={titles} />
        {feature.name === "mlflow" && status === "on" && <OpenMlflow cluster={cluster} />}
        {parts.length > 0 && (
          <ExpandableSection
            headerText={
              status === "off" ? `${parts.length} parts, ${ready} there already` : `${ready} of ${parts.length} parts ready`
            }
            defaultExpanded={status !== "off" && status !== "on"}
            headerAriaLabel={`Parts of ${title}`}
          >
            <PartTree parts={parts} label={`Parts of ${title} and what they need`} />
          </ExpandableSection>
        )}
      </SpaceBetween>
    </Container>
  );
}

export function FeaturesTab({ name }: { name: string }) {
  const features = useFeatures(name);
  const running = useRunning(`cluster/${name}`);
  const [doing, setDoing] = useState<{ feature: Feature; change: Change }>();
  if (features.error) return <ProblemAlert error={features.error} />;
  if (!features.data)
    return (
      <Box textAlign="center" padding="l">
        <Spinner /> Looking at the features
      </Box>
    );
  const titles = new Map(features.data.features.map((each) => [each.name, titleOf(each)]));
  return (
    <SpaceBetween size="m">
      <Header
        variant="h2"
        counter={`(${features.data.features.filter((each) => each.enabled).length} of ${features.data.features.length} on)`}
        description="Each switch shows what it would make or remove before anything happens"
      >
        Features
      </Header>
      {features.data.features.map((feature) => (
        <FeatureCard
          key={feature.name}
          cluster={name}
          feature={feature}
          titles={titles}
          running={operationOf(feature, running.data ?? [])}
          onChange={(change) => setDoing({ feature, change })}
        />
      ))}
      {doing && (
        <FeatureDialog
          cluster={name}
          feature={doing.feature}
          titles={titles}
          change={doing.change}
          onDismiss={() => setDoing(undefined)}
        />
      )}
    </SpaceBetween>
  );
}
