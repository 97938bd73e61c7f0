// The switches of a launch: features that come with the cluster, with the settings that they have by default.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";
import ExpandableSection from "@cloudscape-design/components/expandable-section";
import FormField from "@cloudscape-design/components/form-field";
import { useEffect, useState } from "react";

import type { paths } from "../../generated/api";
import type { Problem } from "../../shared/api";
import { useInstanceTypes } from "../../shared/queries";
import type { GroupDraft } from "../instance_groups/group_draft";
import { whyNot } from "./launch_rules";

type Body = NonNullable<paths["/clusters/launch"]["post"]["requestBody"]>["content"]["application/json"];
export type FeatureName = keyof NonNullable<Body["features"]>;

// The compiler asks for a line here when the contract gets a feature.
const kFeatures: Record<FeatureName, { title: string; description: string }> = {
  training_operator: { title: "Training operator", description: "Jobs that restart what failed without starting anew" },
  tiered_checkpointing: { title: "Tiered checkpointing", description: "Checkpoints in the nodes' memory, copied to S3" },
  task_governance: { title: "Task governance", description: "Queues, priorities and quotas of teams" },
  observability: { title: "Observability", description: "Metrics in a Prometheus workspace" },
  mlflow: { title: "MLflow", description: "Experiment tracking by SageMaker" },
  autoscaling: { title: "Managed autoscaling", description: "Groups that follow the pods that wait" },
  inference_operator: { title: "Inference operator", description: "Model endpoints on the cluster's accelerators" },
  kuberay: { title: "KubeRay", description: "Ray clusters and jobs" },
  keda: { title: "KEDA", description: "Scaling of workloads by metrics" },
  load_balancer_controller: { title: "Load balancer controller", description: "Load balancers for Services and Ingresses" },
};

export const featureRequest = (chosen: FeatureName[]) =>
  chosen.length ? { features: Object.fromEntries(chosen.map((name) => [name, { enabled: true }])) as Body["features"] } : {};

export function LaunchFeatures({
  groups,
  chosen,
  onChange,
  problem,
}: {
  groups: GroupDraft[];
  chosen: FeatureName[];
  onChange: (chosen: FeatureName[]) => void;
  problem?: Problem;
}) {
  const types = useInstanceTypes();
  return (
    <ColumnLayout columns={2}>
      {(Object.keys(kFeatures) as FeatureName[]).map((name) => {
        const why = whyNot(name, groups, chosen, types.data?.instance_types ?? []);
        const checked = chosen.includes(name);
        return (
          <FormField key={name} errorText={problem?.field(`/features/${name}`)}>
            <Checkbox
              checked={checked}
              disabled={why !== undefined && !checked}
              description={why ?? kFeatures[name].description}
              onChange={(event) => onChange(event.detail.checked ? [...chosen, name] : chosen.filter((each) => each !== name))}
            >
              {kFeatures[name].title}
            </Checkbox>
          </FormField>
        );
      })}
    </ColumnLayout>
  );
}

// Their section, which opens where one is refused.
export function LaunchFeaturesSection(props: Parameters<typeof LaunchFeatures>[0]) {
  const { problem } = props;
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (problem?.field("/features") !== undefined) setOpen(true);
  }, [problem]);
  return (
    <ExpandableSection
      headerText="Features"
      headerDescription="They can be switched on and off later, too"
      variant="container"
      expanded={open}
      onChange={(event) => setOpen(event.detail.expanded)}
    >
      <LaunchFeatures {...props} />
    </ExpandableSection>
  );
}
