/** A worker of another team: it knows the API's address and the name of a tool, and could be in any language. */

export interface RenderWorkerOptions {
  readonly api: string;
  /** Headers that identify the worker. */
  readonly headers: Readonly<Record<string, string>>;
  readonly name: string;
  /** Does the work; `report` publishes progress, which keeps the claim. */
  readonly render: (scene: string, report: (percent: number) => Promise<void>) => Promise<object>;
}

interface Waiting {
  readonly toolCallId: string;
  readonly name: string;
  readonly prompt: { readonly scene: string };
}

/** Takes one call that waits for the tool, and runs it. Undefined: there was none to take. */
export async function takeOne(options: RenderWorkerOptions): Promise<string | undefined> {
  const { api, name, render } = options;
  const { getJson, post } = requestsWith(options.headers);
  const query = 'pendingTool=video.render&pendingKind=external_execution';
  const { conversations } = await getJson<{
    readonly conversations: readonly { readonly conversationId: string }[];
  }>(`${api}/v1/conversations?${query}`);
  for (const { conversationId } of conversations) {
    const url = `${api}/v1/conversations/${conversationId}`;
    const { pending } = await getJson<{ readonly pending: readonly Waiting[] }>(`${url}/pending`);
    for (const { toolCallId, prompt } of pending.filter((each) => each.name === 'video.render')) {
      const call = `${url}/tool-calls/${encodeURIComponent(toolCallId)}`;
      const actor = { id: name };
      const claim = await post(`${call}/claim`, { actor, lease: '1 minute' });
      // Another worker has it.
      if (claim.verdict !== 'accepted') continue;
      const { claimId } = claim;
      const value = await render(prompt.scene, async (percent) => {
        await post(`${call}/progress`, { payload: { percent }, claimId, actor });
      });
      const body = { resolution: { type: 'result', value }, claimId, actor };
      // The key makes a repeat after a lost reply the same answer.
      return (await post(`${call}/resolution`, body, `${name}/${toolCallId}`)).verdict;
    }
  }
  return undefined;
}

interface Reply {
  readonly verdict: string;
  readonly claimId?: string;
}

function requestsWith(headers: RenderWorkerOptions['headers']) {
  return {
    getJson: async <Value>(url: string): Promise<Value> =>
      (await (await fetch(url, { headers })).json()) as Value,
    post: async (url: string, body: object, key?: string): Promise<Reply> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(key === undefined ? {} : { 'idempotency-key': key }),
        },
        body: JSON.stringify(body),
      });
      return (await response.json()) as Reply;
    },
  };
}
