// The training plans that a group could draw on.
import { Choice } from "../../shared/choice";
import { localTime } from "../../shared/format";
import { useTrainingPlans } from "../../shared/queries";
import type { TrainingPlan } from "../../shared/types";

const usable = (plan: TrainingPlan) => !/expired|failed/i.test(plan.status ?? "");

const describe = (plan: TrainingPlan) =>
  `${plan.instance_type ?? "?"} in ${plan.zone ?? "?"}, ${plan.available_count ?? "?"} of ${plan.total_count ?? "?"} free, ${localTime(plan.start)} to ${localTime(plan.end)}`;

export function PlanSelect({
  value,
  onChange,
  type = "",
  optional = false,
}: {
  value: string;
  onChange: (arn: string, plan?: TrainingPlan) => void;
  // Only plans of this type.
  type?: string;
  // Offers none, too.
  optional?: boolean;
}) {
  const plans = useTrainingPlans(type);
  const all = (plans.data?.training_plans ?? []).filter((plan) => usable(plan) || plan.arn === value);
  const options = all.map((plan) => ({
    value: plan.arn,
    label: `${plan.name ?? plan.arn} (${plan.status ?? "?"})`,
    description: describe(plan),
  }));
  const kNone = { value: "", label: "None", description: "On-demand capacity" };
  return (
    <Choice
      options={optional ? [kNone, ...options] : options}
      value={value}
      placeholder="Choose a plan"
      empty="This account has no training plan that could be used"
      statusType={plans.isPending ? "loading" : plans.isError ? "error" : "finished"}
      onChange={(arn) =>
        onChange(
          arn,
          all.find((plan) => plan.arn === arn),
        )
      }
    />
  );
}
