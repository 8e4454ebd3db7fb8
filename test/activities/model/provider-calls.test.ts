/** Calls that the provider runs inside the model call, as the worker reports them. */
import { describe, expect, it } from 'vitest';
import { promise } from '../../support/promise.js';
import { answer, environment, modelInput, modelOf, setUp } from '../tools/fixtures.js';

describe('a model call', () => {
  it("shows the provider's own calls, live and with their results, and plans none of them", {
    ...promise('G94', 'S19'),
  }, async () => {
    const item = { type: 'provider_item', provider: 'p', item: { id: 'ws_1' } } as const;
    const { activities, live } = setUp({
      model: modelOf((_request, { onEvent }) => {
        onEvent({ type: 'text', text: 'Let me look.' });
        onEvent({ type: 'provider_call', id: 'ws_1', name: 'web.search' });
        onEvent({ type: 'text', text: ' Rain.' });
        const providerCalls = [
          { id: 'ws_1', name: 'web.search', input: { query: 'rain' }, outcome: { output: [1] } },
          { id: 'ws_2', name: 'web.search', input: {}, outcome: { error: 'e'.repeat(100_000) } },
        ];
        return Promise.resolve(answer({ parts: [item, ...answer().parts], providerCalls }));
      }),
    });
    const result = await environment().run(activities.callModel, modelInput());
    expect(result.calls).toEqual([]);
    expect(result.parts[0]).toEqual(item);
    expect(result.providerCalls).toMatchObject([
      {
        plan: {
          toolCallId: 'ws_1',
          name: 'web.search',
          executor: 'provider',
          input: { query: 'rain' },
        },
        result: { status: 'resolved', envelope: { ok: true }, provenance: 'untrusted' },
      },
      { result: { status: 'errored', envelope: { error: { code: 'provider_error' } } } },
    ]);
    expect(JSON.stringify(result).length).toBeLessThan(8_000);
    expect(
      live.map((event) =>
        event.type === 'text_delta' ? `${event.type} ${event.offset} ${event.text}` : event.type,
      ),
    ).toEqual([
      ...['model_call_started', 'text_delta 0 Let me look.', 'provider_call_started'],
      'text_delta 12  Rain.',
    ]);
    expect(live[2]).toMatchObject({ providerCallId: 'ws_1', name: 'web.search', step: 2 });
  });
});
