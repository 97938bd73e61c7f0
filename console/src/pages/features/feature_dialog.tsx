// Switching a feature on or off and changing its settings: what it would make or remove is shown before.
import Alert from "@cloudscape-design/components/alert";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import { useState } from "react";

import { client, withKey } from "../../shared/api";
import { sentence } from "../../shared/format";
import { PlannedDialog } from "../../shared/planned_dialog";
import type { Feature } from "../../shared/types";
import { changedSettings, draftOf, settingsOf } from "./settings";
import { SettingsFields } from "./settings_fields";

export type Change = "on" | "off" | "settings" | "repair";

const kTitles: Record<Change, { verb: string; action: string }> = {
  on: { verb: "Switch on", action: "Switch on" },
  off: { verb: "Switch off", action: "Switch off" },
  settings: { verb: "Change the settings of", action: "Save" },
  repair: { verb: "Repair", action: "Repair" },
};

export const titleOf = (feature: Feature) => feature.title ?? feature.name.replaceAll("_", " ");

function Kept({ feature }: { feature: Feature }) {
  if (!feature.keeps?.length) return null;
  return (
    <ExpandableSection headerText={feature.keeps.length === 1 ? "1 part stays" : `${feature.keeps.length} parts stay`}>
      <ul>
        {feature.keeps.map((each) => (
          <li key={each}>{sentence(each)}</li>
        ))}
      </ul>
    </ExpandableSection>
  );
}

export function FeatureDialog({
  cluster,
  feature,
  titles,
  change,
  onDismiss,
}: {
  cluster: string;
  feature: Feature;
  titles: Map<string, string>;
  change: Change;
  onDismiss: () => void;
}) {
  const now = draftOf(feature.name, feature.settings);
  const [draft, setDraft] = useState(now);
  const settings =
    change === "off" || change === "repair" ? {} : changedSettings(feature.name, change === "on" ? {} : now, draft);
  const body = { [feature.name]: { enabled: change !== "off", ...settings } };
  const asksSettings = (change === "on" || change === "settings") && settingsOf(feature.name).length > 0;
  return (
    <PlannedDialog
      title={`${kTitles[change].verb} ${titleOf(feature)}`}
      action={kTitles[change].action}
      intro={feature.summary}
      onDismiss={onDismiss}
      complete={change !== "settings" || Object.keys(settings).length > 0}
      asked={JSON.stringify([cluster, change, body])}
      send={(options, key) =>
        client.PATCH("/clusters/{cluster}/features", {
          params: { path: { cluster }, ...withKey(key) },
          body: { ...body, ...options },
        })
      }
    >
      {(problem) => (
        <>
          {asksSettings && (
            <SettingsFields cluster={cluster} feature={feature.name} draft={draft} onChange={setDraft} problem={problem} />
          )}
          {change === "on" && (feature.excludes ?? []).length > 0 && (
            <Alert type="info">
              Not together with {(feature.excludes ?? []).map((each) => titles.get(each.feature) ?? each.feature).join(", ")}.
            </Alert>
          )}
          {change === "off" && <Kept feature={feature} />}
        </>
      )}
    </PlannedDialog>
  );
}
