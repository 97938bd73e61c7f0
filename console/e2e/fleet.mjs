// The console before a fleet of 10,000 nodes, in real Chromium: every table draws one page and is searched, lists are asked for
// by page, also in the dark and in a narrow window. The answers are canned (support/fleet); the console is the built one.
import { check, finish } from "../../tests/support/product.mjs";
import { fleetServer, kGroup, kNodes } from "./support/fleet.mjs";
import { front } from "./support/front.mjs";
import { openBrowser, walker } from "./support/walk.mjs";

const kRows = 50;
const { asked, answer, refuse } = fleetServer();
const site = await front(process.env.CONSOLE_DIST ?? "build/console", { answer });
const { page, errors, close } = await openBrowser();
const { look, shot } = walker(page);
const rowsOf = (table) => page.getByRole("table", { name: table }).locator("tbody tr").count();
const heading = (text) => page.getByRole("heading", { name: text }).first().waitFor();

async function drawsOnePage(table, total) {
  await heading(new RegExp(`^${table} \\(`));
  const text = await page
    .getByRole("heading", { name: new RegExp(`^${table} \\(`) })
    .first()
    .textContent();
  check(`${table}: the heading counts ${total}`, text.includes(`(${total})`), text);
  const rows = await rowsOf(table);
  check(`${table}: at most ${kRows} rows are drawn`, rows > 0 && rows <= kRows, rows);
}

async function finds(table, text, row) {
  const box = page.getByRole("searchbox", { name: `Find in ${table.toLowerCase()}` });
  await box.fill(text);
  await page.getByRole("table", { name: table }).getByText(row).first().waitFor({ timeout: 20_000 });
  check(`${table}: "${text}" is found`, (await rowsOf(table)) <= kRows);
  await box.fill("");
}

try {
  await page.goto(`${site.url}/clusters/fleet?tab=nodes`);
  await heading(/^Nodes \(/);
  await drawsOnePage("Nodes", kNodes.toLocaleString("en"));
  const bytes = asked.filter((each) => each.path.endsWith("/nodes")).map((each) => each.bytes);
  check("a page of nodes costs what it shows, not the fleet", Math.max(...bytes) < 50_000, bytes);
  await page.getByRole("button", { name: "Next page of nodes" }).click();
  await page.getByText("51–100 of 10,000").waitFor();
  await finds("Nodes", "hyperpod-i-0000000000000270f", "hyperpod-i-0000000000000270f");
  await page.getByRole("button", { name: "Health of nodes" }).click();
  await page.getByRole("option", { name: "Unhealthy" }).click();
  await page.getByText("1–11 of 11").waitFor();
  await look("fleet-nodes");
  await page.getByRole("checkbox", { name: "Choose all nodes of this page" }).check();
  await page.getByRole("button", { name: "Actions for the chosen nodes" }).click();
  await page.getByRole("menuitem", { name: "Replace" }).click();
  await page.getByRole("dialog", { name: "Replace 11 nodes" }).waitFor();
  await look("fleet-nodes-replace");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

  for (const [tab, table, total, sought, row] of [
    ["groups", "Instance groups", "100", "WaitingForCapacity", "spot"],
    ["events", "Events", "100 of 20,000", "Pod/train-1499", "Pod/train-1499"],
    ["operations", "Operations", "100 of 5,000", "node.replace workers-12", "node.replace"],
  ]) {
    await page.goto(`${site.url}/clusters/fleet?tab=${tab}`);
    await drawsOnePage(table, total);
    await look(`fleet-${tab}`);
    await finds(table, sought, row);
  }
  for (const [path, table, total, sought, row] of [
    ["/clusters", "Clusters", "300", "cluster-298", "cluster-298"],
    ["/operations", "Operations", "100 of 5,000", "op_000000000000003de", "node.replace"],
    ["/audit", "Audit", "100+", "long-ago", "long-ago"],
    ["/quotas", "Quotas", "400", "ml.type399.xlarge", "ml.type399.xlarge for cluster usage"],
    ["/instance-types", "Instance types", "180", "ml.type178", "ml.type178.xlarge"],
    ["/training-plans", "Training plans", "1"],
  ]) {
    await page.goto(site.url + path);
    await drawsOnePage(table, total);
    await look(`fleet${path.replace("/", "-")}`);
    if (sought) await finds(table, sought, row);
  }

  await page.goto(`${site.url}/clusters/fleet/nodes/hyperpod-i-00000000000000005`);
  await heading("Recovery history");
  check("a node's page shows its fault", await page.getByText("GPU has fallen off the bus").isVisible());
  await look("fleet-node");
  await page.goto(`${site.url}/clusters/fleet?tab=node-groups`);
  await drawsOnePage("EKS node groups", "1");
  await look("fleet-node-groups");

  await page.goto(`${site.url}/clusters/fleet?tab=features`);
  await heading(/^Features/);
  check(
    "a part of a feature shows its state",
    await page.getByRole("listitem").filter({ hasText: "Pod identity association" }).getByText("starting").isVisible(),
  );
  await look("fleet-features");
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Open MLflow" }).click();
  const tab = await opened;
  await tab.waitForURL(/favicon\.svg\?signed$/);
  check("MLflow opens in a tab of its own, without a way back", (await tab.evaluate(() => window.opener)) === null);
  await tab.close();
  await page
    .getByRole("checkbox", { name: "Tiered checkpointing" })
    .or(page.getByRole("switch", { name: "Tiered checkpointing" }))
    .click();
  await page.getByRole("dialog").getByText("service account default/checkpointing").waitFor();
  check(
    "switching off waits for the name",
    await page.getByRole("dialog").getByRole("button", { name: "Switch off" }).isDisabled(),
  );
  await look("fleet-feature-off");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("button", { name: "Settings of Managed autoscaling" }).click();
  await page.getByRole("dialog").waitFor();
  await look("fleet-feature-settings");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();

  const act = async (on, verb) => {
    await page.getByRole("button", { name: `Actions for ${on}` }).click();
    await page.getByRole("menuitem", { name: verb, exact: true }).click();
    await page.getByRole("dialog").waitFor();
  };
  await page.goto(`${site.url}/clusters/fleet?tab=groups`);
  for (const [verb, name] of [
    ["Scale", "scale"],
    ["Edit labels, taints and checks", "edit"],
    ["Update software", "update"],
    ["Delete", "delete"],
  ]) {
    await act(kGroup, verb);
    if (verb === "Delete") await page.getByRole("dialog").getByLabel("Type fleet to confirm").waitFor();
    await look(`fleet-group-${name}`);
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  }
  await page.goto(`${site.url}/clusters/launch`);
  await page.getByText("Features", { exact: true }).click();
  await page.getByRole("checkbox", { name: "Training operator" }).check();
  await look("fleet-launch");
  await page.goto(`${site.url}/clusters/fleet?tab=storage`);
  await page.getByRole("button", { name: "Mount storage" }).click();
  await page.getByRole("dialog").waitFor();
  await look("fleet-storage-mount");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  await page.goto(`${site.url}/clusters/fleet/add-group`);
  await page.getByRole("radio", { name: "Training plan" }).check();
  await page.getByRole("button", { name: /^Training plan/ }).click();
  await page.getByRole("option", { name: /large/ }).click();
  await page.getByRole("button", { name: /^Zone.*us-west-2a/ }).waitFor();
  check(
    "a plan brings its type and zone",
    await page.getByRole("button", { name: /^Instance type.*ml\.p5\.48xlarge/ }).isDisabled(),
  );
  await page.getByText("More settings").click();
  await page.getByRole("button", { name: "Add a label" }).click();
  await page.getByRole("button", { name: "Add a taint" }).click();
  await look("fleet-add-group");
  const pointers = [
    "/name",
    "/instance_type",
    "/zone",
    "/count",
    "/capacity/type",
    "/capacity/training_plan_arn",
    "/interface_type",
    "/threads_per_core",
    "/volume_size_gib",
    "/kms_key_arn",
    "/min_count",
    "/deep_health_checks/0",
    "/labels/team",
    "/taints/0/key",
    "/subnet_id",
    "/security_group_ids/1",
    "/lifecycle_script",
    "/image_id",
    "/execution_role_arn",
  ];
  await page.getByLabel("Key of label 1").fill("team");
  await page.getByText("More settings").click();
  refuse(pointers);
  await page.getByRole("button", { name: "Show the plan" }).click();
  await page.getByText("Some fields cannot be taken").waitFor();
  for (const pointer of pointers) {
    const places = await page
      .getByText(`refused at ${pointer}`)
      .evaluateAll((found) => found.filter((each) => each.checkVisibility() && !each.closest("ul")).length);
    check(`a refusal of ${pointer} stands beside its field`, places >= 1, places);
  }
  await look("fleet-add-group-refused");

  await page.getByRole("button", { name: "Change to dark mode" }).click();
  await page.goto(`${site.url}/clusters/fleet?tab=features`);
  await heading(/^Features/);
  await look("fleet-features-dark");
  for (const [name, path] of [
    ["nodes", "/clusters/fleet?tab=nodes"],
    ["groups", "/clusters/fleet?tab=groups"],
    ["add-group", "/clusters/fleet/add-group"],
    ["node", "/clusters/fleet/nodes/x"],
  ]) {
    await page.goto(site.url + path);
    await page.waitForLoadState("networkidle");
    await look(`fleet-${name}-dark`);
  }
  await page.setViewportSize({ width: 480, height: 900 });
  for (const [name, path] of [
    ["nodes", "/clusters/fleet?tab=nodes"],
    ["features", "/clusters/fleet?tab=features"],
    ["add-group", "/clusters/fleet/add-group"],
    ["operations", "/operations"],
  ]) {
    await page.goto(site.url + path);
    await page.waitForLoadState("networkidle");
    await look(`fleet-${name}-narrow`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    check(`${name}: a narrow window scrolls down only`, wide <= 1, wide);
  }
  const foreign = errors.filter((each) => !/WebSocket/.test(each)); // there is no stream here
  check("no error in the browser's console", foreign.length === 0, foreign);
} catch (error) {
  await shot("fleet-failure");
  check(`the walk goes on to its end: ${String(error).split("\n").slice(0, 3).join(" ")}`, false, page.url());
} finally {
  await close();
  await site.stop();
}
finish();
