/** Pages that the API refuses to give: each says so in place of its content. */
import { afterEach, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import { Inbox } from '../../../web/inbox/inbox.js';
import { Operations } from '../../../web/operations/operations.js';
import { Studio } from '../../../web/studio/studio.js';
import { problem } from '../../support/pages/scripted-fetch.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { show } from '../support/show.js';

const HOME = location.pathname;
afterEach(() => history.replaceState(null, '', HOME));

it.each([
  ['/ui/inbox', Inbox],
  ['/ui/conversations', Studio],
  ['/ui/conversations/c1', Studio],
  ['/ui/operations', Operations],
])('%s says that it is refused, and why', promise('G434'), async (path, Face) => {
  history.replaceState(null, '', path);
  const session = sessionOver(async () => problem(403, 'forbidden'));
  const nothing = () => undefined;
  show(<Face session={session} onSignOut={nothing} onTenant={nothing} />);
  await expect.element(page.getByText('Nothing can be shown: forbidden it is')).toBeVisible();
  await expect
    .element(page.getByText(/^Reads the (?:log|list|calls|state)/))
    .not.toBeInTheDocument();
});
