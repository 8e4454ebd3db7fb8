/** Checks an approver's edit in the same way as the model's own arguments. Runs in the worker. */

import { validate } from '../../define/schemas/validate.js';
import { TEXTS } from '../../protocol/failures/texts.js';
import { MAX_ANSWER_BYTES } from '../../protocol/limits/limits.js';
import type { FieldProblem } from '../../protocol/values/field-problem.js';
import { type Json, utf8Bytes } from '../../protocol/values/json.js';
import type { CheckEditResult } from '../../protocol/workflow/activities.js';
import { argsDigest } from '../shared/arguments.js';
import { toJson } from '../shared/normalise.js';
import { decidePolicies, type PolicyQuestion } from '../shared/policy.js';
import { definitionOf } from './digest.js';

const PATH = '/resolution/input';

/**
 * Validates the edited input and runs the policies on it. The returned input is exactly the one that may run. Has no
 * effects of its own. Never throws.
 */
export async function checkEdit(question: PolicyQuestion): Promise<CheckEditResult> {
  const { tool } = question;
  if (tool.executor === 'provider') return refused([{ path: PATH, message: TEXTS.hostedEdit }]);
  const validated = await validate(tool.input, question.input);
  if (!validated.ok)
    return refused(validated.problems.map((it) => ({ ...it, path: `${PATH}${it.path}` })));
  let input: Json;
  try {
    input = toJson(validated.value);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refused([{ path: PATH, message: `cannot be turned into JSON: ${message}` }]);
  }
  const bytes = utf8Bytes(JSON.stringify(input));
  if (bytes > MAX_ANSWER_BYTES)
    return refused([
      { path: PATH, message: `has ${bytes} bytes after parsing; at most ${MAX_ANSWER_BYTES}` },
    ]);
  const outcome = await decidePolicies({ ...question, input });
  if (!outcome.ok) return refused([{ path: PATH, message: outcome.error.message }]);
  const { definition } = definitionOf(tool);
  return { ok: true, input, argsDigest: argsDigest(input), definition, approval: outcome.approval };
}

function refused(problems: readonly FieldProblem[]): CheckEditResult {
  return { ok: false, problems };
}
