/**
 * A model server of another project: aimock speaks the protocols of OpenAI and Anthropic, and refuses the requests
 * that they would refuse.
 */
import type { Fixture, FixtureResponse } from '@copilotkit/aimock';
import { LLMock } from '@copilotkit/aimock';
import { onTestFinished } from 'vitest';

type Answers = (request: MockedRequest) => FixtureResponse;

/** A request as aimock reports it, in any protocol. */
export interface MockedRequest {
  /** The last message is a tool result. */
  readonly hasResults: boolean;
}

/**
 * Answers every request by a pure function of the request. `chunkSize`: characters of a piece; `latency`: ms between
 * pieces.
 */
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

/** A server that ends with the test, unless it was stopped before. */
export async function mockFor(...args: Parameters<typeof startMock>): Promise<LLMock> {
  const mock = await startMock(...args);
  onTestFinished(() => mock.stop().catch(() => undefined));
  return mock;
}
