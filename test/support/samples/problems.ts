/** Problem documents as the API answers them. */
import { expect } from 'vitest';

export const JSON_TYPE = { 'content-type': 'application/json' };

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly type: string;
  readonly errors?: readonly { path: string; message: string }[];
}

export async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  expect(problem.type).toBe(`urn:colloquy:problem:${problem.code}`);
  expect(problem.title).not.toBe('');
  return problem;
}
