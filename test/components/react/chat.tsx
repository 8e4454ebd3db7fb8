/** The chat of the example `support-chat.tsx`, as an application shows it. */

import { version } from 'react';
import { expect } from 'vitest';
import { SupportChat } from '../../../examples/page/support-chat.js';
import type { BrowserClient } from '../../../src/browser/index.js';
import { showPart } from '../support/show.js';

export type ReactVersion = 18 | 19;

/** Shows the chat with these things in the cart. Checks that the tests have the version of React that they name. */
export function showChat(
  of: ReactVersion,
  {
    client,
    items = ['Lamp'],
  }: { readonly client: BrowserClient; readonly items?: readonly string[] },
): void {
  expect(version).toMatch(new RegExp(`^${of}\\.`));
  showPart(<SupportChat client={client} order="42" items={items} />);
}
