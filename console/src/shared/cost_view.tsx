// What a plan costs by the hour, where AWS's price list says it.
import Box from "@cloudscape-design/components/box";

import type { Cost } from "./types";

const kHoursOfMonth = 730;
export const dollars = (value: number) => value.toLocaleString("en-US", { style: "currency", currency: "USD" });

export function CostView({ cost }: { cost: Cost }) {
  const hourly = cost.hourly_usd ?? 0;
  return (
    <div>
      <Box variant="awsui-key-label">Cost</Box>
      <div>
        {dollars(hourly)} an hour, about {dollars(hourly * kHoursOfMonth)} a month
      </div>
      <ul>
        {(cost.groups ?? []).map((row) => (
          <li key={row.group}>
            {row.group}:{" "}
            {row.hourly_usd_each === undefined
              ? row.note
              : `${row.count ?? 0} × ${row.instance_type} at ${dollars(row.hourly_usd_each)}${row.note ? ` (${row.note})` : ""}`}
          </li>
        ))}
      </ul>
      <Box variant="small" color="text-body-secondary">
        {cost.scope} {cost.as_of && `Prices of ${cost.as_of}.`}
      </Box>
    </div>
  );
}
