/** The request of a model call, as the studio shows it, over an API without a server. */
import { beforeEach, describe, expect, it } from 'vitest';
import { page } from 'vitest/browser';
import type { ModelCallRead } from '../../../src/protocol/model/model-calls.js';
import type { Session } from '../../../web/session/session.js';
import { useLog } from '../../../web/studio/hooks/use-log.js';
import { ModelCallPane } from '../../../web/studio/panes/model-call.js';
import { FakeStream, json, scriptedFetch } from '../../support/pages/scripted-fetch.js';
import { stamped, started, turn } from '../../support/samples/log-events.js';
import { accessibilityFaults } from '../support/looks.js';
import { promise } from '../support/promise.js';
import { sessionOver } from '../support/session.js';
import { showPart } from '../support/show.js';

const LOG = stamped([started(), ...turn('t1')]);
const CALL = LOG.findLast(({ type }) => type === 'model_call');

function Pane({ session }: { readonly session: Session }) {
  return <ModelCallPane session={session} id="c1" log={useLog(session, 'c1')} />;
}

async function openPane(read: Partial<ModelCallRead>): Promise<void> {
  const { fetch } = scriptedFetch(({ path, headers }) => {
    if (path.includes('/model-calls/')) return json({ unknown: [], seq: CALL?.seq, ...read });
    return headers.get('accept') === 'text/event-stream'
      ? new FakeStream().response
      : json({ generation: 1, events: LOG, cursor: `1-${LOG.length}`, more: false });
  });
  showPart(<Pane session={sessionOver(fetch)} />);
  await unfold(`Model call ${CALL?.seq ?? ''}: the request`);
}

async function unfold(name: string): Promise<void> {
  await page.getByText(name, { exact: true }).first().click();
}

const tool = { name: 'look', description: 'Looks.', inputSchema: {} };

beforeEach(() => history.replaceState(null, '', location.pathname));

describe('a derived request in the studio', promise('G421'), () => {
  it('says that nothing is missing, and shows the system prompt and the tools', async () => {
    const request = { system: 'Be kind.', tools: [tool], messages: [] };
    await openPane({ source: 'derived', request });
    await expect.element(page.getByText(/Derived from the log.*Nothing is missing/)).toBeVisible();
    expect(page.getByRole('list', { name: 'Not known' }).elements()).toEqual([]);
    await unfold('System prompt');
    await expect.element(page.getByText('Be kind.', { exact: true })).toBeVisible();
    await unfold('Tools (1)');
    await expect.element(page.getByText(/^\[[^]*"Looks."/)).toBeVisible();
    expect(await accessibilityFaults()).toEqual([]);
  });

  it('names the parts that are not known, with the definition of the agent beside the request', async () => {
    await openPane({
      ...{ source: 'derived', request: { messages: [] }, unknown: ['The tools: changed.'] },
      definition: { system: 'Be kind.', tools: [tool] },
    });
    await expect.element(page.getByRole('list', { name: 'Not known' })).toBeVisible();
    await expect.element(page.getByText('The tools: changed.')).toBeVisible();
    const defined = page.getByRole('region', { name: 'Definition of the agent' });
    await expect.element(defined.getByText(/this call got with changes/)).toBeVisible();
    await unfold('System prompt');
    await expect.element(defined.getByText('Be kind.')).toBeVisible();
  });
});
