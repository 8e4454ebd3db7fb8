/** Answers a route with a verdict: the body is the verdict, the status is the verdict's. */
import type { Response } from 'express';
import { ConversationError } from '../../client/api/errors.js';
import { sendProblem } from './problem.js';

export interface Answered {
  readonly httpStatus: number;
  readonly shown: object;
}

export async function answerWith(
  response: Response,
  judge: () => Promise<Answered>,
): Promise<void> {
  try {
    const { httpStatus, shown } = await judge();
    response.status(httpStatus).json(shown);
  } catch (error) {
    if (!ConversationError.isInstance(error) || error.code !== 'invalid_request') throw error;
    // The client and the conversation report "invalid" in the same shape, so a caller needs to read only one.
    sendProblem(response, error, { verdict: 'invalid', problems: error.problems ?? [] });
  }
}
