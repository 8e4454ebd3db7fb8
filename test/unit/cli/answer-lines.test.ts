import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { AnswerLines } from '../../../src/cli/dev/answer-lines.js';

interface Served {
  readonly conversationId: string;
  readonly parent?: object;
  readonly ends: { seq: number; status: string; text?: string; error?: { message: string } }[];
}

async function apiOf(served: Served[]) {
  let isUp = true;
  const api = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
    const found = served.find(({ conversationId }) => pathname.includes(`/${conversationId}/`));
    response.statusCode = isUp && request.headers.authorization === 'Bearer s' ? 200 : 503;
    if (found !== undefined) expect(searchParams.get('before')).toBe('end');
    const seqOf = ({ ends }: Served): number => ends.at(-1)?.seq ?? 1;
    const body =
      found === undefined
        ? { conversations: served.map((each) => ({ tenant: 't', ...each, seq: seqOf(each) })) }
        : { events: found.ends.toReversed().map((end) => ({ type: 'turn_ended', ...end })) };
    response.end(JSON.stringify(body));
  });
  await once(api.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void api.close());
  const { port } = api.address() as AddressInfo;
  const lines = new AnswerLines({
    apiUrl: `http://127.0.0.1:${port}`,
    apiHeaders: { authorization: 'Bearer s' },
  });
  const news = async () => await lines.news(new AbortController().signal);
  return {
    news,
    setUp: (up: boolean) => {
      isUp = up;
    },
  };
}

it('colloquy dev prints once what agents say, and why turns fail; not what was said before', async () => {
  const order: Served = {
    conversationId: 'order-42',
    ends: [{ seq: 4, status: 'completed', text: 'Before.' }],
  };
  const served = [order];
  const { news } = await apiOf(served);
  expect(await news()).toEqual([]);
  order.ends.push({
    seq: 9,
    status: 'completed',
    text: `It\nwas refunded.\u001b[2J${'x'.repeat(400)}`,
  });
  order.ends.push({ seq: 12, status: 'failed', error: { message: 'no model' } });
  served.push({ conversationId: 'new-1', ends: [{ seq: 3, status: 'completed', text: '' }] });
  served.push({
    ...{ conversationId: 'child-1', parent: {} },
    ends: [{ seq: 3, status: 'completed', text: 'Inner.' }],
  });
  const lines = await news();
  expect(lines).toEqual([
    'answers   new-1: (no text)',
    expect.stringMatching(
      /^answers {3}order-42: It was refunded\.\\u001b\[2Jx+ … \d+ more characters$/,
    ),
    'failed    order-42: no model',
  ]);
  for (const line of lines) expect(line.length).toBeLessThan(400);
  expect(await news()).toEqual([]);
});

it('colloquy dev prints answers that came while its API was away', async () => {
  const order: Served = { conversationId: 'order-42', ends: [] };
  const { news, setUp } = await apiOf([order]);
  expect(await news()).toEqual([]);
  order.ends.push({ seq: 5, status: 'cancelled' });
  setUp(false);
  expect(await news()).toEqual([]);
  setUp(true);
  expect(await news()).toEqual(['cancelled order-42']);
});
