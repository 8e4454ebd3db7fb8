/** The page of the inbox in a browser, and the API beside it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Stack } from 'colloquy/dev';
import { type Browser, chromium, type Page } from 'playwright';
import { findChromium } from '../../test/support/browser/chromium.js';

const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--headless=shell'];
const AT_ONCE = 8;
const GIVE_UP_MS = 60_000;

export interface Call {
  readonly id: string;
  readonly name: string;
  readonly input: object;
}

export class Site {
  readonly #stack: Stack;
  readonly #browser: Browser;

  constructor(stack: Stack, browser: Browser) {
    this.#stack = stack;
    this.#browser = browser;
  }

  static async open(stack: Stack): Promise<Site> {
    const { executablePath, env } = await findChromium();
    const browser = await chromium.launch({
      executablePath,
      args: ARGS,
      env: { ...process.env, ...env },
    });
    return new Site(stack, browser);
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }

  /** A page of its own person, signed in. `script` runs in the page before anything else. */
  async page(query: string, script = ''): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1_280, height: 900 } });
    const page = await context.newPage();
    const token = JSON.stringify(this.#stack.secret.secret);
    await page.addInitScript(`sessionStorage.setItem('colloquy.token', ${token}); ${script}`);
    await page.goto(`${this.#stack.apiUrl}/ui/inbox${query}`);
    await page.getByText('Live', { exact: true }).waitFor();
    return page;
  }

  /** Begins conversations, each with one call that waits. */
  async begin(calls: readonly Call[]): Promise<void> {
    const left = calls.values();
    const lane = async (): Promise<void> => {
      for (const { id, name, input } of left) {
        const message = JSON.stringify({ name, input });
        await this.read('/v1/conversations', { agent: 'bench-clerk', id, message });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  }

  async read<Answer>(path: string, body?: object): Promise<Answer> {
    const headers = { ...this.#stack.apiHeaders, 'content-type': 'application/json' };
    const response = await fetch(`${this.#stack.apiUrl}${path}`, {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  /** The events of a type in the log of a conversation. */
  async events(id: string, type: string): Promise<readonly LoggedEvent[]> {
    const { events } = await this.read<{ readonly events: readonly LoggedEvent[] }>(
      `/v1/conversations/${id}/events?limit=1000`,
    );
    return events.filter((event) => event.type === type);
  }

  /** The decisions in the log of a conversation, once there is one. */
  async decisions(id: string): Promise<readonly LoggedEvent[]> {
    const giveUpAt = performance.now() + GIVE_UP_MS;
    for (;;) {
      const found = await this.events(id, 'resolution');
      if (found.length > 0 || performance.now() > giveUpAt) return found;
      await sleep(20);
    }
  }
}

/** Waits until the expression is true in the page, whose policy forbids the waits of the driver. */
export async function holds(page: Page, expression: string): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_MS;
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > giveUpAt) throw new Error(`never true: ${expression}`);
    await page.waitForTimeout(10);
  }
}

export interface LoggedEvent {
  readonly type: string;
  readonly at: string;
  readonly resolution?: {
    readonly type: string;
    readonly reason?: string;
    readonly value?: unknown;
  };
}
