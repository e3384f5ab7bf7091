import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { CHROMIUM_PATH } from "../support/needs.ts";
import { PATIENCE_SECONDS } from "../support/until.ts";

const AXE_PATH = createRequire(import.meta.url).resolve("axe-core");

export interface Shown {
  readonly page: Page;
  /** What the console said of errors and warnings, and what was thrown. */
  readonly complaints: string[];
  /** Addresses of everything that was asked for. */
  readonly requests: string[];
}

/** Chromium with pages that lie in a folder of their own. */
export class PageViewer {
  readonly #browser: Browser;
  readonly #folder = mkdtempSync(join(tmpdir(), "factorloom-pages-"));

  static async start(): Promise<PageViewer> {
    return new PageViewer(await chromium.launch({ executablePath: CHROMIUM_PATH, args: ["--no-sandbox"] }));
  }

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Opens a page from disk; `view` is the part of its address after the name. */
  async show(
    html: string,
    { view = "", width = 1280, scheme = "light" as "light" | "dark" } = {},
  ): Promise<Shown> {
    const path = join(this.#folder, "page.html");
    writeFileSync(path, html);
    const page = await this.#browser.newPage({ viewport: { width, height: 900 }, colorScheme: scheme });
    page.setDefaultTimeout(1000 * PATIENCE_SECONDS);
    const complaints: string[] = [];
    const requests: string[] = [];
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) complaints.push(message.text());
    });
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => requests.push(request.url()));
    await page.goto(`${pathToFileURL(path).href}${view}`);
    await page.waitForSelector("h1");
    return { page, complaints, requests };
  }

  async close(): Promise<void> {
    await this.#browser.close();
    rmSync(this.#folder, { recursive: true });
  }
}

/** What axe finds wrong, a line each. */
export async function violationsOf(page: Page): Promise<string[]> {
  await page.evaluate(readFileSync(AXE_PATH, "utf8"));
  const { violations } = await page.evaluate(
    () => (globalThis as unknown as { axe: typeof axe }).axe.run() as Promise<axe.AxeResults>,
  );
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" ")}`);
}
