import { describe, expect, it } from 'vitest';
import { aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import { openaiModel } from '../../../../src/model/openai/adapter.js';

/** As JavaScript calls them: with any value. */
const openai = openaiModel as (...args: readonly unknown[]) => unknown;
const aiSdk = aiSdkModel as (...args: readonly unknown[]) => unknown;
const MODEL = {
  specificationVersion: 'v4',
  provider: 'p',
  modelId: 'm',
  supportedUrls: {},
  doGenerate: () => undefined,
  doStream: () => undefined,
};

describe('options of a model are judged when it is made:', () => {
  it.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [5, 'number'],
  ])('the name %j of an OpenAI model', (name, got) => {
    expect(() => openai(name)).toThrow(
      `openaiModel: the name of the model must be a text, got ${got}`,
    );
  });

  it.each<[object, string]>([
    [{ api: 'completions' }, '`api` must be "responses" or "chat"'],
    [{ baseURL: 8080 }, '`baseURL` must be a text'],
    [{ apiKey: 5 }, '`apiKey` must be a text or a function that returns one'],
    [{ temperature: 'hot' }, '`temperature` must be a number'],
    [{ maxOutputTokens: 0 }, '`maxOutputTokens` must be a whole number from 1'],
    [{ contextTokens: -1 }, '`contextTokens` must be a whole number from 1'],
    [{ requestTimeoutMs: '5s' }, '`requestTimeoutMs` must be a number of milliseconds above 0'],
    [{ toolChoice: 'any' }, '`toolChoice` must be "auto", "required", "none" or {name}'],
    [{ background: 'yes' }, '`background` must be true or false'],
    [{ reasoning: 'high' }, '`reasoning` must be an object'],
  ])('%j of an OpenAI model is refused, with the rule', (options, problem) => {
    expect(() => openai('m', options)).toThrow(new TypeError(`openaiModel: ${problem}`));
  });

  it('all faults are named at once, and no value, because it may be a key', () => {
    const options = { apikey: 'sk-secret', temperature: Number.NaN };
    expect(() => openai('m', options)).toThrow(
      /^openaiModel: `apikey` is unknown; known are api, baseURL, apiKey, .*; `temperature` must be a number$/,
    );
    expect(() => openai('m', options)).not.toThrow(/sk-secret/);
    expect(() => openai('m', 'chat')).toThrow('openaiModel: the options must be an object');
  });

  it('undefined ones count as not given, and valid ones stand', () => {
    const options = { apiKey: undefined, baseURL: '', toolChoice: { name: 'a' }, temperature: 0 };
    expect(openai('m', options)).toMatchObject({ name: 'm' });
  });

  it('those of a model of the AI SDK, too', () => {
    expect(() => aiSdk(MODEL, { headers: { a: 'b' }, temperature: 1 })).toThrow(
      /^aiSdkModel: `headers` must be a function; `temperature` is unknown; known are settings, /,
    );
    expect(aiSdk(MODEL, { promptCache: false })).toMatchObject({ contextTokens: undefined });
  });
});
