import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Page } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** The installed browsers: Chromium, or none. */
export const BROWSERS: readonly string[] = existsSync(EXECUTABLE) ? ['Chromium'] : [];

/** A new, headless Chromium with an empty profile. */
export async function openBrowser() {
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({
    executablePath: EXECUTABLE,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return {
    newPage: () => browser.newPage({ viewport: { width: 640, height: 480 } }),
    [Symbol.asyncDispose]: () => browser.close(),
  };
}

/**
 * Signs in as `alice` and consents, as a person does, until the browser has shown the page of the redirect. Returns the
 * text of that page. `onPage` sees each page before its form is sent.
 */
export async function signInWithBrowser(
  page: Page,
  url: URL,
  onPage: (name: 'sign-in' | 'consent' | 'done') => Promise<void> = async () => {},
): Promise<string> {
  await page.goto(url.href);
  await page.fill('input[name=login]', 'alice');
  await page.fill('input[name=password]', 'any');
  await onPage('sign-in');
  await page.click('button[type=submit]');
  await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
  await onPage('consent');
  await page.click('button[type=submit]');
  await page.waitForURL(`${url.searchParams.get('redirect_uri')}**`);
  await onPage('done');
  return (await page.textContent('body')) ?? '';
}

/** The pages that the documentation shows, with the visible height. */
const SHOWN: Readonly<Record<string, number>> = { consent: 360, done: 150 };

/** Saves a screenshot for the documentation, if the environment asks for it: `TOOLPLANE_SCREENSHOTS=docs/images`. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const directory = process.env.TOOLPLANE_SCREENSHOTS;
  const height = SHOWN[name];
  if (directory === undefined || height === undefined) return;
  const path = `${directory}/sign-in-${name}.png`;
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path, clip: { x: 0, y: 0, width: 640, height } });
}
