/** Checks the fields of a message, without the state of its conversation. Pure; accepts any value and never throws. */
import { MAX_MESSAGE_BYTES } from '../limits/limits.js';
import { attachmentProblems } from '../values/attachments.js';
import type { FieldProblem } from '../values/field-problem.js';
import { requestIdProblem } from '../values/ids.js';
import { isRecord, utf8Bytes } from '../values/json.js';
import { textProblems } from '../values/well-formed.js';
import { ON_BUSY } from './agents.js';

/** The rules for the fields of a message, except for `output` (`outputProblems`). Clients and workflow apply them. */
export function messageFieldProblems(input: unknown): readonly FieldProblem[] {
  if (!isRecord(input)) return [{ path: '', message: 'must be an object with "text"' }];
  const { text, requestId, onBusy, ifRejected, agent } = input;
  const problems: FieldProblem[] = [...textProblems(input)];
  if (typeof text !== 'string') problems.push({ path: '/text', message: 'must be a string' });
  else if (text.trim() === '') problems.push({ path: '/text', message: 'must not be blank' });
  else {
    const bytes = utf8Bytes(text);
    if (bytes > MAX_MESSAGE_BYTES)
      problems.push({
        path: '/text',
        message: `must be at most ${MAX_MESSAGE_BYTES} bytes in UTF-8, got ${bytes}`,
      });
  }
  problems.push(...attachmentProblems(input['attachments']));
  if (requestId !== undefined) {
    const problem = requestIdProblem('requestId', requestId);
    if (problem !== undefined) problems.push({ path: '/requestId', message: problem });
  }
  if (onBusy !== undefined && !ON_BUSY.some((known) => known === onBusy))
    problems.push({
      path: '/onBusy',
      message: `must be ${ON_BUSY.map((known) => `"${known}"`).join(' or ')}`,
    });
  if (ifRejected !== undefined && typeof ifRejected !== 'boolean')
    problems.push({ path: '/ifRejected', message: 'must be true or false' });
  if (agent !== undefined && typeof agent !== 'string')
    problems.push({ path: '/agent', message: 'must be a string' });
  return problems;
}
