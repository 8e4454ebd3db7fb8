/** The inbox of people with keys of their own: two who decide the same calls, and one of several tenants. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBrowser } from '../../../support/browser/browser.js';
import { patient } from '../../../support/patience.js';
import { until } from '../../../support/until.js';
import { call } from '../../support/api.js';
import { answered, beginRefund, openCall, openInbox, row } from '../../support/pages/inbox.js';
import { colloquy } from '../../support/processes.js';
import { startWorld, type World } from '../../support/world.js';

const browser = useBrowser();
let world: World;

beforeAll(async () => {
  world = await startWorld();
}, patient(180_000));

afterAll(async () => {
  await world.stop();
});

/** An API that takes keys, on the data of the world. */
async function startKeysApi(): Promise<string> {
  const env = { ...world.env, ...dataOf(world), COLLOQUY_IDENTITY: 'keys' };
  const said = await colloquy(['serve', '--port', '0'], env).prints(/http:\/\/\S+/);
  return /http:\/\/[^/\s]+/.exec(said)?.[0] ?? '';
}

async function keyOf(name: string, ...more: readonly string[]): Promise<string> {
  const rights = ['--right', 'read,answer,extend,send'];
  const args = ['keys', 'create', '--name', name, ...rights, ...more, '--json'];
  const command = colloquy(args, dataOf(world));
  expect(await command.ended, command.stderr()).toBe(0);
  return (JSON.parse(command.stdout()) as { readonly key: string }).key;
}

function dataOf({ folder, server, taskQueue }: World): Readonly<Record<string, string>> {
  return {
    COLLOQUY_DATA: folder,
    TEMPORAL_ADDRESS: server.address,
    COLLOQUY_TASK_QUEUE: taskQueue,
  };
}

const RACES = 5;

describe('two people', () => {
  it('who decide the same calls at once: one is accepted, the other reads who was first', async () => {
    const url = await startKeysApi();
    const ids = Array.from({ length: RACES }, (_, index) => `people-${index}`);
    const talks = [];
    for (const id of ids) talks.push((await beginRefund(world, id)).talk);
    const pages = [];
    for (const name of ['lena', 'bo'])
      pages.push(await openInbox(browser, url, { token: await keyOf(name) }));
    for (const id of ids) {
      for (const page of pages) await openCall(page, id);
      const sentences = await Promise.all(
        pages.map(async (page) => {
          await page.keyboard.press('a');
          const answer = page.locator('.answer', { hasText: id });
          const now = answer.getByRole('button', { name: 'Send now' });
          // The call of an answer that is held has ended: then it was sent already.
          await now.click({ timeout: 1_000 }).catch(() => undefined);
          const pattern = new RegExp(`${id}\\. (?:Approved|Decided by)`);
          const texts = await answered(page, pattern);
          return texts.find((text) => pattern.test(text));
        }),
      );
      const [won, lost] = sentences.toSorted();
      expect(won).toMatch(/Approved$/);
      expect(lost).toMatch(/Decided by (?:lena|bo) (?:just now|\d+ s ago): /);
    }
    for (const talk of talks) {
      await talk.ended();
      expect(await talk.eventsOf('resolution')).toHaveLength(1);
    }
  });
});

describe('an identity of several tenants', () => {
  it('chooses one, whose calls it sees and answers', async () => {
    const url = await startKeysApi();
    const token = await keyOf('max', '--tenant', 'default', '--tenant', 'acme');
    const message = 'Please, for tenant-1';
    world.model.answer(message, ({ results }) =>
      results.length > 0
        ? { text: 'Done.' }
        : { calls: [{ name: 'payments.refund', input: { paymentId: 'p_acme', cents: 7 } }] },
    );
    const headers = { authorization: `Bearer ${token}` };
    const body = { agent: 'support', id: 'tenant-1', message };
    const begun = await call(`${url}/v1/conversations?tenant=acme`, { body, headers });
    expect(begun.status).toBe(202);
    const page = await openInbox(browser, url, { token });
    await page
      .getByText(/No call waits here|payments\.refund/)
      .first()
      .waitFor();
    expect(await row(page, 'tenant-1').count()).toBe(0);
    await page.getByLabel('Tenant').selectOption('acme');
    const detail = await openCall(page, 'tenant-1');
    await detail.getByRole('button', { name: 'Edit …' }).click();
    await detail.getByLabel('cents').fill('8');
    await detail.getByRole('button', { name: 'Approve with' }).click();
    await page.getByRole('button', { name: 'Send now' }).click();
    await answered(page, /Approved/);
    await until('the tool ran', async () => await world.lines('refunds.jsonl'), {
      holds: (lines) => lines.some(({ paymentId, cents }) => paymentId === 'p_acme' && cents === 8),
    });
    await page.reload();
    await row(page, 'keys').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Tenant').inputValue()).toBe('acme');
  });
});
