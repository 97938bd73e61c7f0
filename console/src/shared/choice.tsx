// A Select over a fixed list of options, and a FormField around it where it has a label.
import Select, { type SelectProps } from "@cloudscape-design/components/select";

export interface Option<V extends string> {
  value: V;
  label: string;
  description?: string;
  disabled?: boolean;
}

export function Choice<V extends string>({
  value,
  options,
  onChange,
  label,
  ...rest
}: {
  value: V;
  options: readonly Option<V>[];
  onChange: (value: V) => void;
  // For readers, where no field label says it.
  label?: string;
} & Pick<SelectProps, "placeholder" | "disabled" | "statusType" | "empty" | "filteringType" | "invalid">) {
  return (
    <Select
      {...rest}
      ariaLabel={label}
      options={options}
      selectedOption={options.find((each) => each.value === value) ?? null}
      onChange={(event) => onChange(event.detail.selectedOption.value as V)}
    />
  );
}
