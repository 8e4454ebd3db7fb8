/** The page of docs/browser.md, in a document that has what it needs. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { BrowserConversation } from '../../../src/browser/conversation.js';
import { createBrowserClient } from '../../../src/browser/index.js';
import { ScriptedApi } from '../../support/pages/scripted-api.js';
import { json } from '../../support/pages/scripted-fetch.js';
import { answers, asks, started, suspends } from '../../support/samples/log-events.js';
import { until } from '../../support/until.js';

/** Not imported by its name: its types are those of pages, and these of Node. */
const PAGE = new URL('../../../examples/page/chat-page.ts', import.meta.url).href;

class FakeElement {
  readonly tag: string;
  children: (FakeElement | string)[] = [];
  value = '';
  name = '';
  type = '';
  checked = false;
  #click: (() => void) | undefined;

  constructor(tag: string) {
    this.tag = tag;
  }

  get textContent(): string {
    return this.children
      .map((child) => (typeof child === 'string' ? child : child.textContent))
      .join('|');
  }

  set textContent(text: string) {
    this.children = [text];
  }

  append(...children: (FakeElement | string)[]): void {
    this.children.push(...children);
  }

  replaceChildren(...children: (FakeElement | string)[]): void {
    this.children = children;
  }

  addEventListener(_type: string, listener: () => void): void {
    this.#click = listener;
  }

  click(): void {
    this.#click?.();
  }

  all(tag: string): FakeElement[] {
    return this.children.flatMap((child) =>
      typeof child === 'string' ? [] : [...(child.tag === tag ? [child] : []), ...child.all(tag)],
    );
  }

  button(label: string): FakeElement {
    const found = this.all('button').find(({ textContent }) => textContent === label);
    if (found === undefined) throw new Error(`no button "${label}" in ${this.textContent}`);
    return found;
  }
}

beforeEach(() => {
  const document = {
    createElement: (tag: string) => new FakeElement(tag),
    ...{ addEventListener: () => undefined, removeEventListener: () => undefined },
  };
  vi.stubGlobal('document', document);
});
afterEach(() => {
  vi.unstubAllGlobals();
});

it('shows what was said, a form with buttons for what waits, and the errors of an answer', async () => {
  const answerSchema = {
    type: 'object',
    properties: { day: { type: 'string', format: 'date' } },
    required: ['day'],
  };
  const api = new ScriptedApi(
    ...[started(), ...asks('t1', 'Refund me.')],
    suspends('t1', 'a', { kind: 'approval', name: 'refund', reason: 'over 100' }),
    suspends('t1', 'b', { kind: 'elicitation', name: 'ask', answerSchema }),
  );
  const conversation = createBrowserClient({ baseUrl: '', fetch: api.fetch }).conversation('c1');
  const page = new FakeElement('body');
  const { showChat } = (await import(PAGE)) as {
    showChat: (conversation: BrowserConversation, page: FakeElement) => void;
  };
  showChat(conversation, page);
  await conversation.open();
  await until('it is open', () => api.streams.length === 1);
  expect(page.textContent).toBe(
    'user: Refund me.|refund: over 100|Approve|Deny|ask: {"amount":5}|||Answer||Send',
  );

  const posted = vi.fn(() => json({ verdict: 'accepted', seq: 9 }));
  api.instead = ({ method }) => (method === 'POST' ? posted() : undefined);
  page.button('Approve').click();
  await until('it is sent', () => posted.mock.calls.length === 1);
  expect(api.sent('POST', '/a/resolution')[0]?.body).toMatchObject({
    resolution: { type: 'approve' },
  });

  page.button('Answer').click();
  await until('the error is shown', () => page.textContent.includes('{"day":"is required"}'));
  const day = page.all('input').find(({ name }) => name === 'day')!;
  day.value = '2030-01-31';
  api.live({
    type: 'text_delta',
    turnId: 't1',
    step: 1,
    attempt: 1,
    messageId: 't1.1',
    offset: 0,
    text: 'Well',
  });
  await until('the text is shown', () => page.textContent.includes('assistant: Well'));
  // The form that is being filled in stays.
  expect(page.all('input')).toContain(day);
  api.instead = ({ method }) =>
    method === 'POST'
      ? json(
          {
            verdict: 'invalid',
            problems: [{ path: '/resolution/value/day', message: 'is a holiday' }],
          },
          { status: 422 },
        )
      : undefined;
  page.button('Answer').click();
  await until('the refusal is shown', () => page.textContent.includes('{"day":"is a holiday"}'));

  api.log(...answers('t1', 'Done.'));
  await until('nothing waits any more', () => page.all('fieldset').length === 0);
  expect(page.textContent).toBe('user: Refund me.|assistant: Done.|||Send');
  conversation.leave();
});
