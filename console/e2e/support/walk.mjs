// A browser and what every walk through the console does with it: sign in, look (screenshot and axe), choose in a list.
import { AxeBuilder } from "@axe-core/playwright";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { chromium } from "playwright-core";

import { check, finish, kToken, start } from "../../../tests/support/product.mjs";
import { front } from "./front.mjs";

const output = "build/test-output/console";

export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), "chromium-"));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    headless: true,
    viewport: { width: 1400, height: 900 },
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
  const page = browser.pages()[0] ?? (await browser.newPage());
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on(
    "console",
    (message) => message.type() === "error" && !/status of (401|409|422)/.test(message.text()) && errors.push(message.text()),
  );
  const close = async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { page, errors, close };
}

export function walker(page) {
  mkdirSync(output, { recursive: true });
  const shot = (name) => page.screenshot({ path: `${output}/${name}.png`, fullPage: true });
  const look = async (name) => {
    await shot(name);
    // The library's own bar of a narrow window has an attribute that its role does not take.
    const { violations } = await new AxeBuilder({ page })
      .options({ resultTypes: ["violations"] })
      .exclude("nav[class*=mobile-toolbar-nav]")
      .analyze();
    const serious = violations.filter((each) => each.impact === "serious" || each.impact === "critical");
    check(
      `axe finds nothing serious on ${name}`,
      serious.length === 0,
      serious.map((each) => [each.id, each.nodes.slice(0, 3).map((node) => node.html)]),
    );
  };
  const choose = async (label, option) => {
    await page.getByRole("button", { name: new RegExp(`^${label}`) }).click();
    const filter = page.getByRole("combobox", { expanded: true });
    if (await filter.count())
      await filter
        .first()
        .fill(option)
        .catch(() => undefined);
    await page
      .getByRole("option", { name: new RegExp(option) })
      .first()
      .click();
  };
  const signIn = async (url) => {
    await page.goto(url);
    await page.getByLabel("Token").fill(kToken);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  };
  return { look, shot, choose, signIn };
}

// One walk over a running product. CONSOLE_DIST: a console built into that folder instead of the binary's own.
export async function walk(steps, options) {
  const product = await start(process.argv[2] ?? "build/release/instantstart", options);
  const before = process.env.CONSOLE_DIST ? await front(process.env.CONSOLE_DIST, { server: product.url }) : undefined;
  const url = before?.url ?? product.url;
  const { page, errors, close } = await openBrowser();
  const tools = walker(page);
  try {
    await steps({ ...tools, product, url, page });
    check("no error in the browser's console", errors.length === 0, errors);
  } catch (error) {
    await tools.shot(`${basename(process.argv[1], ".mjs")}-failure`);
    check(`the walk goes on to its end: ${String(error).split("\n").slice(0, 3).join(" ")}`, false, page.url());
  } finally {
    await close();
    await before?.stop();
    await product.stop();
  }
  finish();
}
