/**
 * The forms of the results of activities: as much of each as the core and the shell rely upon, so that results of older
 * and newer workers still have them. Pure.
 */
import { EXECUTOR_TABLE } from '../../protocol/calls/executors.js';
import { MAX_RESULT_DEPTH, MAX_WAIT_MS } from '../../protocol/limits/limits.js';
import { isTaskQueue } from '../../protocol/values/ids.js';
import { utf8Bytes } from '../../protocol/values/json.js';
import { wellFormed } from '../../protocol/values/well-formed.js';
import {
  aFlag,
  allOf,
  aNumber,
  aText,
  type Form,
  isDeeperThan,
  keyOf,
  listOf,
  numberWithin,
  oneOf,
  optional,
  present,
  recordBy,
  recordOf,
  wholeNumberWithin,
} from '../input/form.js';
import type { WorkType } from './row.js';

const aRecord = recordOf({});

const texts = optional(listOf(aText));

const audience: Form = recordOf({
  ...{ users: texts, roles: texts, exclude: texts },
  also: optional(listOf((value) => audience(value))),
});

const approval = recordOf({
  needed: aFlag,
  reason: optional(aText),
  audience: optional(audience),
});

const toolError = recordOf({ code: aText, message: aText });

/** Times that Temporal gets as they are have bounds; all others are bounded where they are used. */
const timeouts = recordOf({
  approvalMs: aNumber,
  answerMs: aNumber,
  runMs: numberWithin(0, MAX_WAIT_MS),
  claimMs: optional(aNumber),
  totalMs: optional(aNumber),
  heartbeatMs: optional(numberWithin(0, MAX_WAIT_MS)),
});

const taskQueue: Form = (value) =>
  isTaskQueue(value) ? undefined : ' must be the name of a task queue';

/** A part of an activity's id, which the server bounds to `MAX_NAME_BYTES`. */
const MAX_TOOL_NAME_BYTES = 512;

const toolName: Form = (value) =>
  typeof value === 'string' && utf8Bytes(value) <= MAX_TOOL_NAME_BYTES
    ? undefined
    : ` must be a text of at most ${MAX_TOOL_NAME_BYTES} bytes`;

const childBudgets = recordOf({
  tokens: optional(aNumber),
  costMicros: optional(aNumber),
  timeMs: optional(aNumber),
  calls: optional(aNumber),
});

const plan = recordOf({
  toolCallId: aText,
  name: toolName,
  executor: keyOf(EXECUTOR_TABLE),
  argsDigest: optional(aText),
  definition: optional(aText),
  answerDefinition: optional(aText),
  approval,
  answerAudience: optional(audience),
  timeouts,
  maxAttempts: wholeNumberWithin(1, 2 ** 31 - 1),
  taskQueue: optional(taskQueue),
  mcp: optional(aRecord),
  made: optional(recordOf({ plugin: aText, factory: optional(aText) })),
  handoff: optional(recordOf({ agent: aText })),
  subAgent: optional(
    recordOf({ agent: aText, budgets: optional(childBudgets), outlives: optional(aFlag) }),
  ),
  answerSchema: optional(aRecord),
  warnBeforeMs: optional(aNumber),
  onExpireDefault: optional(recordOf({ value: present })),
  unplanned: optional(recordOf({ argumentsJson: aText })),
  error: optional(toolError),
});

const wellFormedText: Form = (value) =>
  typeof value === 'string' && value === wellFormed(value)
    ? undefined
    : ' must be well-formed Unicode text';

const runnable = allOf(plan, recordOf({ name: wellFormedText }));

/** The name of a tool that does not exist may be any text; all others are in ids of activities. */
const plannedCall = recordBy(({ error, unplanned }) =>
  error === undefined && unplanned === undefined ? runnable : plan,
);

const migratedCall = recordOf({
  input: present,
  argsDigest: aText,
  definition: aText,
  approval,
  answerAudience: optional(audience),
});

const envelope = recordBy(({ ok }) =>
  recordOf(
    ok === true
      ? { result: present, blob: optional(aRecord), files: optional(listOf(aRecord)) }
      : { ok: optional(aFlag), error: toolError },
  ),
);

const usage = recordOf({
  inputTokens: aNumber,
  outputTokens: aNumber,
  cachedInputTokens: optional(aNumber),
  reasoningTokens: optional(aNumber),
  costMicros: optional(aNumber),
});

const problems = listOf(recordOf({ path: aText, message: aText }));

const changed = recordOf({ ok: aFlag, changed: recordOf({ definition: aText }) });

const offer = recordOf({
  definition: aText,
  answerSchema: optional(aRecord),
  onExpireDefault: optional(recordOf({ value: present })),
});

const callModel = recordOf({
  parts: listOf(
    recordBy(({ type }) =>
      type === 'text' ? recordOf({ text: aText }) : recordOf({ type: aText }),
    ),
  ),
  calls: listOf(
    recordOf({
      plan: plannedCall,
      argumentsJson: aText,
      read: optional(recordOf({ toolCallId: aText })),
    }),
  ),
  providerCalls: optional(listOf(recordOf({ plan: plannedCall, result: recordOf({ envelope }) }))),
  model: aText,
  finishReason: aText,
  usage,
  earlierUsage: optional(usage),
  attempt: aNumber,
  failedAttempts: optional(listOf(aRecord)),
  context: optional(recordOf({ tokens: aNumber })),
  outputProblem: optional(aText),
});

const summarize = recordOf({
  version: aNumber,
  throughMessageId: aText,
  text: aText,
  tokensBefore: aNumber,
  tokensAfter: aNumber,
  model: aText,
  usage,
  failedAttempts: optional(listOf(aRecord)),
});

const refusedOrEnded = recordBy((fields) =>
  recordOf({
    ok: aFlag,
    ...('ended' in fields ? { ended: toolError } : { problems, offer: optional(offer) }),
  }),
);

const FORMS: { readonly [Type in WorkType]: Form } = {
  call_model: callModel,
  summarize,
  plan_call: plannedCall,
  preflight_tool: recordBy(({ ok, changed: definition }) => {
    if (ok === true) return recordOf({ payload: present, argsDigest: aText });
    return definition === undefined ? recordOf({ ok: aFlag, error: toolError }) : changed;
  }),
  // The events of its end have a result for each form (`toolFinishedEvents`), as those of reads in `callModel`.
  run_tool: () => undefined,
  reconcile_tool: recordBy(({ outcome }) =>
    recordOf({
      outcome: oneOf('happened', 'not_happened', 'unknown'),
      ...(outcome === 'happened' ? { envelope } : { reason: optional(aText) }),
    }),
  ),
  check_answer: recordBy(({ ok }) => (ok === true ? recordOf({ value: present }) : refusedOrEnded)),
  check_edit: recordBy(({ ok }) =>
    ok === true
      ? recordOf({ input: present, argsDigest: aText, definition: optional(aText), approval })
      : refusedOrEnded,
  ),
  start_child: recordBy(({ started }) =>
    recordOf(started === true ? {} : { started: aFlag, error: toolError }),
  ),
  stop_child: recordOf({ running: aFlag }),
  check_definition: recordBy(({ outcome }) =>
    recordOf({
      outcome: oneOf('same', 'migrated', 'ended'),
      ...(outcome === 'migrated' ? { definition: aText, call: migratedCall } : {}),
      ...(outcome === 'ended' ? { definition: optional(aText), error: toolError } : {}),
    }),
  ),
};

const records = listOf(aRecord);

/**
 * State and events of a closed conversation, as an activity restores them from the log. Rows are any records: those of
 * older workers, which histories contain, have other fields.
 */
const restored = recordOf({
  version: aNumber,
  state: recordOf({
    ...{ tenant: aText, conversationId: aText, agent: aText, chain: aText },
    ...{ lastSeq: aNumber, turnCount: aNumber, closed: aFlag },
    settings: aRecord,
    turn: optional(recordOf({ turnId: aText, callIds: listOf(aText), usage })),
    queue: records,
    inbox: optional(records),
    calls: aRecord,
    transcript: records,
    tombstones: records,
    requests: records,
    usage,
    rules: optional(records),
  }),
  events: records,
  unusedChunks: optional(listOf(aText)),
  unacknowledged: optional(records),
});

/** A state holds results under some levels of its own. */
const MAX_STATE_DEPTH = MAX_RESULT_DEPTH + 20;

/** The problem of the state that an activity has restored, in words; undefined for one to continue with. */
export function restoredProblem(carried: unknown): string | undefined {
  return problemOf(restored, carried, MAX_STATE_DEPTH);
}

/** The problem of the result of an effect's activity, in words; undefined for a result that can be recorded. */
export function resultProblem(type: WorkType, result: unknown): string | undefined {
  return problemOf(FORMS[type], result, MAX_RESULT_DEPTH);
}

function problemOf(form: Form, result: unknown, maxDepth: number): string | undefined {
  const problem = isDeeperThan(result, maxDepth)
    ? ` is nested deeper than ${maxDepth} levels`
    : form(result);
  if (problem === undefined) return undefined;
  return `the worker returned an invalid result: ${problem.startsWith('/') ? '' : 'it'}${problem}`;
}
