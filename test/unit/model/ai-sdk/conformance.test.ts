/** The adapters of other projects, against a server of another: the engine is in between. */
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import type { FixtureResponse } from '@copilotkit/aimock';
import { type AiSdkLanguageModel, aiSdkModel } from '../../../../src/model/ai-sdk/adapter.js';
import type { PlannedAnswer } from '../../../../src/testing/describe-model.js';
import { describeModel } from '../../../support/conformance/model.js';
import { startMock } from '../../../support/fakes/model-mock.js';

const apiKey = 'test-0123456789';
/** By the names of either provider. */
const usage = { prompt_tokens: 9, completion_tokens: 7, input_tokens: 9, output_tokens: 7 };

const MODELS: Readonly<Record<string, (url: string) => AiSdkLanguageModel>> = {
  "aiSdkModel with OpenAI's Responses": (url) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey }).responses('gpt-test'),
  "aiSdkModel with OpenAI's Chat Completions": (url) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey }).chat('gpt-test'),
  'aiSdkModel with Anthropic': (url) =>
    createAnthropic({ baseURL: `${url}/v1`, apiKey })('claude-test'),
  'aiSdkModel with Google': (url) =>
    createGoogleGenerativeAI({ baseURL: `${url}/v1beta`, apiKey })('gemini-test'),
};

for (const [name, modelAt] of Object.entries(MODELS))
  describeModel(name, async ({ first, afterResults = first, pieceDelayMs = 0 }) => {
    const mock = await startMock(
      ({ hasResults }) => mockedAnswer(hasResults ? afterResults : first),
      { latency: pieceDelayMs },
    );
    return { model: aiSdkModel(modelAt(mock.url)), close: () => mock.stop() };
  });

/** Names as they travel. */
function mockedAnswer({ text, calls = [] }: PlannedAnswer): FixtureResponse {
  const toolCalls = calls.map(({ name, input }) => ({
    name: name.replaceAll('.', '__'),
    arguments: JSON.stringify(input),
  }));
  if (toolCalls.length === 0) return { content: text ?? '', usage };
  return text === undefined ? { toolCalls } : { content: text, toolCalls };
}
