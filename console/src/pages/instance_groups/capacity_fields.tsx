// How the instances are bought. A training plan fixes type and zone, so choosing one fills them in.
import Alert from "@cloudscape-design/components/alert";
import FormField from "@cloudscape-design/components/form-field";
import SpaceBetween from "@cloudscape-design/components/space-between";
import Tiles from "@cloudscape-design/components/tiles";

import { localTime } from "../../shared/format";
import { useTrainingPlans } from "../../shared/queries";
import type { CapacityType } from "../../shared/types";
import type { FieldsProps } from "./group_fields";
import { PlanSelect } from "./plan_select";

export const kClasses: { value: CapacityType; label: string; description: string }[] = [
  {
    value: "on_demand",
    label: "On-demand",
    description: "List price by the second while an instance runs; kept until you delete it",
  },
  {
    value: "spot",
    label: "Spot",
    description: "Spare capacity at a discount; AWS may take an instance back with two minutes' notice",
  },
  { value: "training_plan", label: "Training plan", description: "Reserved and paid in advance; starts and ends with the plan" },
];

function PlanChoice({ draft, set, error }: FieldsProps) {
  const plans = useTrainingPlans();
  const chosen = plans.data?.training_plans.find((plan) => plan.arn === draft.training_plan_arn);
  return (
    <SpaceBetween size="s">
      <FormField
        label="Training plan"
        description="Its type and zone are the group's"
        errorText={error("capacity/training_plan_arn")}
      >
        <PlanSelect
          value={draft.training_plan_arn}
          onChange={(arn, plan) =>
            set({
              training_plan_arn: arn,
              more_types: [],
              ...(plan?.instance_type ? { instance_type: plan.instance_type } : {}),
              ...(plan?.zone ? { zone: plan.zone } : {}),
            })
          }
        />
      </FormField>
      {chosen?.status && /scheduled/i.test(chosen.status) && (
        <Alert type="info">The plan starts at {localTime(chosen.start)}. The group can be made now and is filled then.</Alert>
      )}
    </SpaceBetween>
  );
}

export function CapacityFields(props: FieldsProps) {
  const { draft, set, error } = props;
  return (
    <SpaceBetween size="m">
      <FormField
        label="Capacity"
        description="Fixed for the group's life"
        errorText={error("capacity/type") ?? props.problem?.exactly(`${props.prefix}/capacity`)}
        stretch
      >
        <Tiles
          columns={3}
          value={draft.capacity}
          items={kClasses}
          onChange={(event) =>
            set({
              capacity: event.detail.value as CapacityType,
              training_plan_arn: "",
              autoscaled: event.detail.value === "training_plan" ? false : draft.autoscaled,
            })
          }
        />
      </FormField>
      {draft.capacity === "training_plan" && <PlanChoice {...props} />}
    </SpaceBetween>
  );
}
