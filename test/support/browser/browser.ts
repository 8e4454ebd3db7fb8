/**
 * A real browser for one file of tests. Each page has a context of its own, without cookies of others, and its test
 * fails for every fault that the page shows: an error in its console, a violation of its Content-Security-Policy, a
 * dialog, a request to another origin.
 */
import { type Browser, chromium, type Page } from 'playwright';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { PATIENCE, patient } from '../patience.js';
import { CHROMIUM_ARGS, findChromium } from './chromium.js';

export interface PageOptions {
  /** @defaultValue "light" */
  readonly colorScheme?: 'light' | 'dark';
  /** In pixels of the screen. @defaultValue 1,000 */
  readonly width?: number;
  /** The person has enlarged the page: 2 is 200 %. @defaultValue 1 */
  readonly zoom?: number;
  /** Faults that the test causes on purpose, such as those of a server that is away. @defaultValue none */
  readonly expected?: RegExp;
}

export interface TestBrowser {
  /** Opens the address in a page that is closed with the test. */
  open(url: string, options?: PageOptions): Promise<Page>;
  /** The faults of the page until now. */
  faults(page: Page): readonly string[];
}

const HEIGHT = 800;
const WAIT_MS = 30_000;
/** Starts a browser before the tests of the file, and ends it after them. */
export function useBrowser(): TestBrowser {
  let browser: Browser | undefined;
  beforeAll(async () => {
    const { executablePath, env } = await findChromium();
    browser = await chromium.launch({
      executablePath,
      args: CHROMIUM_ARGS,
      env: { ...process.env, ...env },
    });
  }, patient(120_000));
  afterAll(async () => {
    await browser?.close();
  });
  return {
    open: async (url, options = {}) => {
      if (browser === undefined) throw new Error('the browser has not been started');
      return await openPage(browser, url, options);
    },
    faults: (page) => faultsOf.get(page) ?? [],
  };
}

/** By page; each list grows. */
const faultsOf = new WeakMap<Page, readonly string[]>();

async function openPage(browser: Browser, url: string, options: PageOptions): Promise<Page> {
  const { colorScheme = 'light', width = 1_000, zoom = 1, expected } = options;
  const viewport = { width: width / zoom, height: HEIGHT / zoom };
  const context = await browser.newContext({
    ...{ colorScheme, viewport, deviceScaleFactor: zoom, reducedMotion: 'reduce' },
  });
  context.setDefaultTimeout(WAIT_MS * PATIENCE);
  const page = await context.newPage();
  const faults = await watch(page, new URL(url).origin);
  faultsOf.set(page, faults);
  onTestFinished(async () => {
    await context.close();
    expect(faults.filter((fault) => expected?.test(fault) !== true)).toEqual([]);
  });
  await page.goto(url);
  return page;
}

/** The values of an expression of `element`, for each element of the page that the CSS selector matches. */
export async function ofEach<Value>(
  page: Page,
  selector: string,
  expression: string,
): Promise<readonly Value[]> {
  const elements = `[...document.querySelectorAll(${JSON.stringify(selector)})]`;
  return await page.evaluate<readonly Value[]>(`${elements}.map((element) => ${expression})`);
}

const REPORT = 'reportViolation';
const LISTEN = `addEventListener('securitypolicyviolation', (event) => {
  void ${REPORT}([event.effectiveDirective, event.blockedURI, event.sample].join(' '));
})`;

/** The faults of the page; grows. */
async function watch(page: Page, origin: string): Promise<readonly string[]> {
  const faults: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      faults.push(`console ${message.type()}: ${message.text()} ${message.location().url}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    const { protocol, origin: other } = new URL(request.url());
    if (protocol !== 'data:' && protocol !== 'blob:' && other !== origin)
      faults.push(`request to ${request.url()}`);
  });
  await page.exposeFunction(REPORT, (violation: string) => {
    faults.push(`violation: ${violation}`);
  });
  await page.addInitScript(LISTEN);
  return faults;
}
