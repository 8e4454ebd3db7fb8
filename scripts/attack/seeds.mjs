// Things that valid requests can name: conversations whose calls wait, triggers, spaces, webhooks. Requests that use
// one up, such as an answer, have several.
import { setTimeout as sleep } from 'node:timers/promises';

const MANY = 12;
const WAIT_MS = 20_000;

/**
 * @returns `seeds`: by operation (`POST /v1/spaces`) the path parameters, and a body, of requests that can succeed;
 *   `runs`: calls of a backend that wait, for the gateway
 */
export async function plant({ url, secret, receiverUrl }) {
  const call = async (method, path, body) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const reply = await response.json();
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(reply)}`);
    return reply;
  };
  const begin = async (agent, id, message = 'hello') => {
    await call('POST', '/conversations', { agent, id, message });
    return id;
  };
  const waiting = async (agent, id) => {
    await begin(agent, id);
    const [pending] = await until(`a call of ${id} waits`, async () => {
      const { pending: calls } = await call('GET', `/conversations/${id}/pending`);
      return calls.length === 0 ? undefined : calls;
    });
    const { toolCallId: callId, turnId } = pending;
    return { id, callId, turnId, stepId: `${turnId}.1` };
  };
  const many = async (make) => {
    const made = [];
    for (let nth = 0; nth < MANY; nth += 1) made.push(await make(nth));
    return made;
  };

  const idle = await many((nth) => begin('greeter', `idle-${nth}`));
  const approvals = await many((nth) => waiting('support', `approval-${nth}`));
  const bulk = await many((nth) => waiting('support', `bulk-${nth}`));
  const renders = await many((nth) => waiting('director', `render-${nth}`));
  const steps = await many((nth) => waiting('shopper', `step-${nth}`));
  const runs = await many((nth) => waiting('director', `run-${nth}`));
  const claimed = await many(async (nth) => {
    const call_ = await waiting('director', `claimed-${nth}`);
    const path = `/conversations/${call_.id}/tool-calls/${call_.callId}/claim`;
    return { ...call_, claimId: (await call('POST', path, { lease: '1 hour' })).claimId };
  });
  const rules = await many(async (nth) => {
    const { id, callId } = await waiting('support', `rule-${nth}`);
    const remember = { for: 'conversation' };
    const resolution = { type: 'approve', remember };
    await call('POST', `/conversations/${id}/tool-calls/${callId}/resolution`, { resolution });
    // The verdict may be `queued` on a busy machine.
    const made = await until(`${id} has its rule`, async () => {
      const { rules: all } = await call('GET', `/conversations/${id}/rules`);
      return all[0];
    });
    return { id, ruleId: made.ruleId };
  });
  const [keeper] = idle;
  const atSeq = await until(`a turn of ${keeper} has ended`, async () => {
    const { events } = await call('GET', `/conversations/${keeper}/events`);
    return events.find(({ type }) => type === 'turn_ended')?.seq;
  });
  const whatIf = await call('POST', `/conversations/${keeper}/what-if`, { agent: 'greeter' });
  const { events } = await call('GET', `/conversations/${keeper}/events`);
  const { seq } = events.find(({ type }) => type === 'model_call');
  const { blob } = await call('POST', `/conversations/${keeper}/blobs`, { any: 'file' });
  const triggers = await many(async (nth) => {
    const trigger = {
      id: `trigger-${nth}`,
      title: 'Weekly report',
      goal: 'Write the report of the week.',
      schedule: { type: 'interval', value: '2 hours' },
    };
    await call('POST', `/conversations/${keeper}/triggers`, trigger);
    return { id: keeper, triggerId: trigger.id };
  });
  const spaces = await many(
    async (nth) => (await call('POST', '/spaces', { name: `Space ${nth}` })).id,
  );
  for (const spaceId of spaces)
    await call('POST', `/spaces/${spaceId}/members`, { member: { kind: 'person', id: 'bob' } });
  const { id: spaceId } = await call('POST', '/spaces', { name: 'Shown calls' });
  const shown = await many(async (nth) => {
    const conversationId = `member-${nth}`;
    const member = { kind: 'agent', conversationId, agent: 'member' };
    await call('POST', `/spaces/${spaceId}/members`, { member });
    await begin('member', conversationId, spaceId);
    const messageId = await until(`${conversationId} shows its call`, async () => {
      const { messages } = await call('GET', `/spaces/${spaceId}/messages?limit=100`);
      const isOwn = ({ author, status }) =>
        author.id === `${conversationId}~member` && status === 'requires_action';
      return messages.find(isOwn)?.id;
    });
    return { spaceId, messageId };
  });
  const webhooks = await many(async () => {
    const { webhook } = await call('POST', '/webhooks', { url: receiverUrl });
    await call('POST', `/webhooks/${webhook.id}/test`, {});
    const delivery = await until(`a delivery of ${webhook.id} has ended`, async () => {
      const { deliveries } = await call('GET', `/webhooks/${webhook.id}/deliveries`);
      return deliveries.find(({ status }) => status !== 'pending');
    });
    return { webhookId: webhook.id, deliveryId: delivery.id };
  });
  const seeds = seedsOf({
    ...{ idle, approvals, bulk, renders, steps, claimed, rules },
    ...{ atSeq, seq, whatIf, blob, triggers, spaces, shown, webhooks },
  });
  return { seeds, runs };
}

async function until(what, look) {
  for (const giveUpAt = Date.now() + WAIT_MS; Date.now() < giveUpAt; await sleep(20)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`${what}: not within ${WAIT_MS} ms`);
}

/** Streams are cut by the tool's time limit, and deletions use up what they name. */
function seedsOf({ idle, approvals, bulk, renders, steps, claimed, rules, ...others }) {
  const { atSeq, seq, whatIf, blob, triggers, spaces, shown, webhooks } = others;
  const conversation = (ids) => ids.map((id) => ({ path: { id } }));
  const [keeper, ...spare] = idle;
  const half = Math.floor(spare.length / 2);
  const kept = conversation([keeper]);
  const waiting = conversation(approvals.map(({ id }) => id));
  const of = '/v1/conversations/{id}';
  const at = (list, names, body) =>
    list.map((one) => ({
      path: Object.fromEntries(names.map((name) => [name, one[name]])),
      ...(body === undefined ? {} : { body: typeof body === 'function' ? body(one) : body }),
    }));
  const ofCall = ['id', 'callId'];
  const trigger = {
    title: 'Report',
    goal: 'Write it.',
    schedule: { type: 'cron', value: '0 9 * * mon' },
  };
  const resultsOf = ({ callId }) => ({
    results: [{ toolCallId: callId, resultJson: '{"url":"x"}' }],
  });
  const answerOf = ({ id, callId }) => ({
    body: {
      items: [
        { conversationId: id, toolCallId: callId, resolution: { type: 'deny', reason: 'no' } },
      ],
    },
  });
  const named = (list, name) => list.map((value) => ({ path: { [name]: value } }));
  const used = Math.floor(webhooks.length / 2);
  const [hook] = webhooks;
  const aWebhook = at([hook], ['webhookId'], {});
  // A request that is made up may delete one of them.
  const aSpace = named(spaces.slice(0, half), 'spaceId');
  return {
    'POST /v1/conversations': [
      { body: { agent: 'greeter', message: 'hello' } },
      { body: { agent: 'greeter', id: 'begun', message: 'hello', onBusy: 'queue' } },
    ],
    'GET /v1/conversations/stream': [{ query: {}, headers: { accept: 'text/event-stream' } }],
    'GET /v1/tool-calls/stream': [{ query: { tools: 'video.render' } }],
    [`GET ${of}`]: waiting,
    [`GET ${of}/pending`]: waiting,
    [`GET ${of}/plugin-states`]: kept,
    [`GET ${of}/events`]: waiting,
    [`GET ${of}/model-calls/{seq}`]: [{ path: { id: keeper, seq: String(seq) } }],
    [`GET ${of}/run`]: waiting,
    [`GET ${of}/rules`]: at(rules, ['id']),
    [`GET ${of}/triggers`]: kept,
    [`POST ${of}/fork`]: kept.map((one) => ({ ...one, body: { generation: 1, atSeq } })),
    [`POST ${of}/what-if`]: kept.map((one) => ({ ...one, body: { agent: 'greeter' } })),
    [`GET ${of}/what-if`]: kept,
    [`GET ${of}/what-if/{whatIfId}`]: [{ path: { id: keeper, whatIfId: whatIf.whatIfId } }],
    [`POST ${of}/what-if/{whatIfId}/cancel`]: [
      { path: { id: keeper, whatIfId: whatIf.whatIfId }, body: {} },
    ],
    [`POST ${of}/messages`]: kept.map((one) => ({
      ...one,
      body: { text: 'hello', onBusy: 'queue' },
    })),
    [`POST ${of}/inbox`]: kept.map((one) => ({
      ...one,
      body: { eventId: 'paid-1', kind: 'order.paid', payload: {} },
    })),
    [`POST ${of}/blobs`]: kept,
    [`GET ${of}/blobs/{blobId}`]: [{ path: { id: keeper, blobId: blob.id } }],
    [`POST ${of}/tokens`]: kept.map((one) => ({ ...one, body: { rights: ['read'] } })),
    [`POST ${of}/cancel`]: at(bulk, ['id'], {}),
    [`POST ${of}/close`]: conversation(spare.slice(half)),
    [`DELETE ${of}`]: conversation(spare.slice(0, half)),
    [`DELETE ${of}/rules/{ruleId}`]: at(rules, ['id', 'ruleId'], {}),
    [`GET ${of}/steps/{stepId}/tool-calls`]: at(steps, ['id', 'stepId']),
    [`POST ${of}/steps/{stepId}/tool-results`]: at(steps, ['id', 'stepId'], resultsOf),
    [`POST ${of}/tool-calls/{callId}/resolution`]: at(approvals, ofCall, { type: 'approve' }),
    [`POST ${of}/tool-calls/{callId}/extend`]: at(renders, ofCall, { by: '5 minutes' }),
    [`POST ${of}/tool-calls/{callId}/claim`]: at(renders, ofCall, { lease: '5 minutes' }),
    [`POST ${of}/tool-calls/{callId}/progress`]: at(claimed, ofCall, ({ claimId }) => ({
      claimId,
      payload: { done: 1 },
    })),
    [`POST ${of}/triggers`]: kept.map((one) => ({ ...one, body: { ...trigger, id: 'planted' } })),
    [`GET ${of}/triggers/{triggerId}`]: at(triggers.slice(0, 1), ['id', 'triggerId']),
    [`POST ${of}/triggers/{triggerId}/pause`]: at(triggers.slice(0, 1), ['id', 'triggerId'], {}),
    [`POST ${of}/triggers/{triggerId}/resume`]: at(triggers.slice(0, 1), ['id', 'triggerId'], {}),
    [`POST ${of}/triggers/{triggerId}/note`]: at(triggers.slice(0, 1), ['id', 'triggerId'], {
      note: 'n',
    }),
    [`DELETE ${of}/triggers/{triggerId}`]: at(triggers.slice(1), ['id', 'triggerId']),
    'GET /v1/turns/{turnId}': at(approvals, ['turnId']),
    'GET /v1/turns/{turnId}/stream': at(approvals, ['turnId']).map((one) => ({
      ...one,
      query: {},
    })),
    'POST /v1/spaces': [{ body: { name: 'Refunds' } }],
    'GET /v1/spaces/{spaceId}': aSpace,
    'GET /v1/spaces/{spaceId}/members': aSpace,
    'GET /v1/spaces/{spaceId}/messages': aSpace,
    'GET /v1/spaces/{spaceId}/stream': aSpace,
    'POST /v1/spaces/{spaceId}/members': aSpace.map((one) => ({
      ...one,
      body: { member: { kind: 'person', id: 'carol' } },
    })),
    'POST /v1/spaces/{spaceId}/messages': aSpace.map((one) => ({ ...one, body: { text: 'hi' } })),
    'POST /v1/spaces/{spaceId}/read': shown.map(({ spaceId, messageId }) => ({
      path: { spaceId },
      body: { messageId },
    })),
    'POST /v1/spaces/{spaceId}/messages/{messageId}/resolution': at(
      shown,
      ['spaceId', 'messageId'],
      { type: 'answer', value: true },
    ),
    'DELETE /v1/spaces/{spaceId}/members/{kind}/{memberId}': spaces
      .slice(1, half)
      .map((spaceId) => ({
        path: { spaceId, kind: 'person', memberId: 'bob' },
      })),
    'DELETE /v1/spaces/{spaceId}': named(spaces.slice(half), 'spaceId'),
    'POST /v1/webhooks': [{ body: { url: 'https://hooks.example/colloquy' } }],
    'GET /v1/webhooks/{webhookId}': aWebhook.map(({ path }) => ({ path })),
    'GET /v1/webhooks/{webhookId}/deliveries': aWebhook.map(({ path }) => ({ path })),
    'POST /v1/webhooks/{webhookId}/rotate': aWebhook,
    'POST /v1/webhooks/{webhookId}/pause': aWebhook,
    'POST /v1/webhooks/{webhookId}/resume': aWebhook,
    'POST /v1/webhooks/{webhookId}/test': aWebhook,
    'POST /v1/webhooks/{webhookId}/deliveries/{deliveryId}/resend': at(
      webhooks.slice(0, used),
      ['webhookId', 'deliveryId'],
      {},
    ),
    'DELETE /v1/webhooks/{webhookId}': at(webhooks.slice(used), ['webhookId']),
    'POST /v1/session': [{}],
    'DELETE /v1/session': [{}],
    'POST /v1/worklist/resolutions': bulk.map(answerOf),
  };
}
