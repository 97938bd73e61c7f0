// The switches of a launch: features that come with the cluster, with the settings that they have by default.
import Checkbox from "@cloudscape-design/components/checkbox";
import ColumnLayout from "@cloudscape-design/components/column-layout";

import type { Problem } from "../../shared/api";
import type { paths } from "../../generated/api";

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
  chosen,
  onChange,
  problem,
}: {
  chosen: FeatureName[];
  onChange: (chosen: FeatureName[]) => void;
  problem?: Problem;
}) {
  return (
    <ColumnLayout columns={2}>
      {(Object.keys(kFeatures) as FeatureName[]).map((name) => (
        <Checkbox
          key={name}
          checked={chosen.includes(name)}
          description={problem?.field(`/features/${name}`) ?? kFeatures[name].description}
          onChange={(event) => onChange(event.detail.checked ? [...chosen, name] : chosen.filter((each) => each !== name))}
        >
          {kFeatures[name].title}
        </Checkbox>
      ))}
    </ColumnLayout>
  );
}
