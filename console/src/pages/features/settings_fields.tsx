// The fields of a feature's settings.
import AttributeEditor from "@cloudscape-design/components/attribute-editor";
import FormField from "@cloudscape-design/components/form-field";
import Input from "@cloudscape-design/components/input";
import Multiselect from "@cloudscape-design/components/multiselect";
import SpaceBetween from "@cloudscape-design/components/space-between";

import type { Problem } from "../../shared/api";
import { Choice } from "../../shared/choice";
import { useInstanceGroups } from "../../shared/queries";
import { type Draft, type Setting, settingsOf, type SettingValue } from "./settings";

interface ControlProps<V> {
  setting: Setting;
  value: V;
  onChange: (value: SettingValue) => void;
}

function Groups({ cluster, value, onChange }: ControlProps<string[]> & { cluster: string }) {
  const groups = useInstanceGroups(cluster);
  const options = (groups.data?.instance_groups ?? []).map((group) => ({
    value: group.name,
    label: group.name,
    description: `${group.instance_type ?? ""} in ${group.zone ?? "?"}, ${group.target_count ?? 0} wanted`,
  }));
  const known = new Map(options.map((each) => [each.value, each]));
  return (
    <Multiselect
      placeholder="Choose groups"
      options={options}
      selectedOptions={value.map((name) => known.get(name) ?? { value: name, label: name })}
      empty="The cluster has no instance group"
      onChange={(event) => onChange(event.detail.selectedOptions.map((each) => each.value ?? ""))}
    />
  );
}

const kLimits = ["nodes", "cpu", "memory", "nvidia.com/gpu", "aws.amazon.com/neuron"].map((name) => ({
  value: name,
  label: name,
}));

function Limits({ value, onChange }: ControlProps<Record<string, string>>) {
  const rows = Object.entries(value).map(([key, amount]) => ({ key, amount }));
  const send = (next: typeof rows) => onChange(Object.fromEntries(next.map((row) => [row.key, row.amount])));
  const change = (index: number, part: Partial<(typeof rows)[number]>) =>
    send(rows.map((row, at) => (at === index ? { ...row, ...part } : row)));
  return (
    <AttributeEditor
      items={rows}
      empty="No limit"
      addButtonText="Add a limit"
      removeButtonText="Remove"
      removeButtonAriaLabel={(row) => `Remove limit of ${row.key}`}
      disableAddButton={rows.some((row) => row.key === "") || rows.length === kLimits.length}
      onAddButtonClick={() => send([...rows, { key: "", amount: "" }])}
      onRemoveButtonClick={(event) => send(rows.filter((_, index) => index !== event.detail.itemIndex))}
      definition={[
        {
          label: "Resource",
          control: (row, index) => (
            <Choice
              label={`Resource ${index + 1}`}
              value={row.key}
              options={kLimits.filter((each) => each.value === row.key || !(each.value in value))}
              placeholder="Choose"
              onChange={(key) => change(index, { key })}
            />
          ),
        },
        {
          label: "At most",
          control: (row, index) => (
            <Input
              ariaLabel={`At most ${index + 1}`}
              value={row.amount}
              placeholder="64"
              onChange={(event) => change(index, { amount: event.detail.value })}
            />
          ),
        },
      ]}
    />
  );
}

function Control({ cluster, ...props }: ControlProps<SettingValue> & { cluster: string }) {
  const { setting, value, onChange } = props;
  if (Array.isArray(value)) return <Groups {...props} value={value} cluster={cluster} />;
  if (typeof value === "object") return <Limits {...props} value={value} />;
  if (setting.kind === "choice")
    return <Choice options={setting.options ?? []} value={value} placeholder="As AWS suggests" onChange={onChange} />;
  const numeric = setting.kind === "number" ? { type: "number" as const, inputMode: "numeric" as const } : {};
  return (
    <Input
      {...numeric}
      value={value}
      placeholder={setting.placeholder}
      autoComplete={false}
      onChange={(event) => onChange(event.detail.value)}
    />
  );
}

export function SettingsFields({
  cluster,
  feature,
  draft,
  onChange,
  problem,
}: {
  cluster: string;
  feature: string;
  draft: Draft;
  onChange: (draft: Draft) => void;
  problem?: Problem;
}) {
  return (
    <SpaceBetween size="m">
      {settingsOf(feature).map((setting) => (
        <FormField
          key={setting.field}
          label={setting.label}
          description={setting.description}
          errorText={problem?.field(`/${feature}/${setting.field}`)}
          stretch={setting.kind === "limits"}
        >
          <Control
            cluster={cluster}
            setting={setting}
            value={draft[setting.field] ?? ""}
            onChange={(value) => onChange({ ...draft, [setting.field]: value })}
          />
        </FormField>
      ))}
    </SpaceBetween>
  );
}
