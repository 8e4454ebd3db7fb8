/** A model server that nobody here wrote: aimock speaks the protocols of OpenAI and Anthropic, and refuses what they would. */
import type { Fixture, FixtureResponse } from '@copilotkit/aimock';
import { LLMock } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

type Answers = (request: MockedRequest) => FixtureResponse;

/** A request as aimock tells of it, whatever the protocol. */
export interface MockedRequest {
  /** The last message is a tool result. */
  readonly hasResults: boolean;
}

/** Answers every request by a pure function of it. `chunkSize`: characters of a piece; `latency`: ms between pieces. */
export async function startMock(
  answers: Answers | FixtureResponse,
  options: Pick<Fixture, 'chunkSize' | 'latency' | 'truncateAfterChunks'> = {},
): Promise<LLMock> {
  const mock = new LLMock({ port: 0, host: '127.0.0.1', strict: true });
  mock.on(
    { predicate: () => true },
    typeof answers === 'function'
      ? ({ messages }) => answers({ hasResults: messages.at(-1)?.role === 'tool' })
      : () => answers,
    { chunkSize: 5, ...options },
  );
  await mock.start();
  return mock;
}

/** One that ends with the test, if it has not been stopped before. */
export async function mockFor(...args: Parameters<typeof startMock>): Promise<LLMock> {
  const mock = await startMock(...args);
  onTestFinished(() => mock.stop().catch(() => undefined));
  return mock;
}
