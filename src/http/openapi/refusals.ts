/** The one table of refusals: the problem codes that an operation can answer, by rules and by its own. */
import { FAILURES, type FailureCode } from '../../protocol/failures/failures.js';
import { isLimited, type Operation, refusesRepeats } from './rows/operation.js';

type Codes = readonly FailureCode[];

interface Rule {
  readonly applies: (operation: Operation) => boolean;
  readonly codes: Codes;
}

/** These operations on a conversation ask the store, or nothing, and Temporal never. */
const WITHOUT_TEMPORAL: readonly string[] = ['uploadFile', 'readBlob', 'mintToken'];
/** These ask Temporal, and no worker; the log of a conversation that is not stored yet is empty. */
const WITHOUT_WORKER: readonly string[] = [
  ...WITHOUT_TEMPORAL,
  ...['readEvents', 'describeRun'],
  ...['listTriggers', 'createTrigger', 'getTrigger', 'removeTrigger'],
  ...['pauseTrigger', 'resumeTrigger', 'setTriggerNote', 'deleteConversation'],
];

/**
 * An input of these that no worker takes in time is `queued`, with the reason. A conversation that is being opened
 * again, and whose state cannot be restored, refuses it with `no_worker`.
 */
const LEFT_AS_SIGNALS: readonly string[] = [
  ...['sendMessage', 'cancelTurn', 'sendEvent', 'resolveToolCall'],
];

const OF_WORKERS = ['no_worker', 'workflow_failing', 'workers_busy'] as const;
const OF_MESSAGES = [
  ...(['unknown_agent', 'agent_mismatch', 'agent_not_served', 'conversation_closed'] as const),
  // `timeout`: the message opens a conversation again that is still closing.
  ...(['busy', 'queue_full', 'timeout', 'workers_busy'] as const),
];

const isOfConversation = ({ path }: Operation): boolean => path.startsWith('/v1/conversations/:id');

const names =
  (parameter: string) =>
  ({ path }: Operation): boolean =>
    path.split('/').includes(`:${parameter}`);

const RULES: readonly Rule[] = [
  {
    applies: () => true,
    codes: [
      // Refused by the parser of HTTP, and by the checks of the sending page.
      ...(['malformed_request', 'headers_too_large', 'request_timeout'] as const),
      ...(['host_not_allowed', 'origin_not_allowed'] as const),
      // The body and the key of every request are read, also where none is needed.
      ...(['malformed_json', 'unsupported_media_type', 'body_too_large'] as const),
      ...(['invalid_request', 'internal'] as const),
    ],
  },
  {
    applies: ({ right }) => right !== 'open',
    // The store may have the keys by which callers are identified.
    codes: ['unauthenticated', 'identity_unavailable', 'store_unavailable'],
  },
  { applies: ({ right }) => right !== 'open' && right !== 'any', codes: ['forbidden'] },
  { applies: isLimited, codes: ['rate_limited'] },
  { applies: refusesRepeats, codes: ['request_running'] },
  // An address that is no valid percent-encoding names nothing.
  { applies: ({ path }) => path.includes(':'), codes: ['not_found'] },
  { applies: isOfConversation, codes: ['unknown_conversation'] },
  {
    applies: (operation) => isOfConversation(operation) && !WITHOUT_TEMPORAL.includes(operation.id),
    codes: ['temporal_unreachable'],
  },
  {
    applies: (operation) => isOfConversation(operation) && !WITHOUT_WORKER.includes(operation.id),
    codes: ['no_worker'],
  },
  {
    applies: (operation) =>
      isOfConversation(operation) &&
      ![...WITHOUT_WORKER, ...LEFT_AS_SIGNALS].includes(operation.id),
    codes: OF_WORKERS,
  },
  { applies: names('ruleId'), codes: ['unknown_rule'] },
  { applies: names('blobId'), codes: ['unknown_blob'] },
  { applies: names('triggerId'), codes: ['unknown_trigger'] },
  { applies: names('whatIfId'), codes: ['unknown_what_if'] },
  { applies: names('webhookId'), codes: ['unknown_webhook'] },
  { applies: names('spaceId'), codes: ['unknown_space'] },
  // The settings of the agent bound the times of its triggers.
  { applies: ({ path }) => path.includes('/triggers'), codes: ['unknown_agent'] },
  // Not every API has a store of webhooks, or of spaces.
  { applies: ({ path }) => /^\/v1\/(?:webhooks|spaces)$/.test(path), codes: ['not_found'] },
];

/** Codes of single operations, by `id`. */
const OWN: Readonly<Record<string, Codes>> = {
  createConversation: [
    ...OF_MESSAGES,
    ...(['unknown_conversation', 'temporal_unreachable', 'no_worker'] as const),
  ],
  sendMessage: OF_MESSAGES,
  sendEvent: ['unknown_agent', 'agent_mismatch', 'conversation_closed', 'queue_full'],
  revokeRule: ['conversation_closed'],
  // `not_admitted`: the run of another conversation of the id, whose first message was refused.
  forkConversation: ['unknown_agent', 'agent_not_served', 'not_admitted'],
  startWhatIf: ['unknown_agent', 'agent_not_served'],
  createTrigger: ['conversation_closed', 'too_many_triggers'],
  getTurn: ['unknown_turn'],
  watchTurn: ['unknown_turn'],
  // `submitStep` has a verdict in its place.
  getStep: ['unknown_step'],
  // A request that does not ask for a stream is about a conversation of the name.
  watchConversations: ['unknown_conversation', 'temporal_unreachable', ...OF_WORKERS],
  readOffers: ['not_found'],
  createWebhook: ['too_many_webhooks'],
  joinSpace: ['unknown_agent', 'too_many_members'],
  sendToSpace: ['not_a_member'],
  readSpace: ['not_a_member'],
  resolveSpaceCall: ['temporal_unreachable', 'no_worker'],
  getOperations: ['not_found'],
  killWorker: ['not_found'],
  beginSession: ['not_found', 'forbidden'],
};

const ALL = Object.keys(FAILURES) as FailureCode[];

/** The codes that an operation can answer, by status; both in the same order for every operation. */
export function refusalsOf(operation: Operation): ReadonlyMap<number, Codes> {
  const ruled = RULES.flatMap(({ applies, codes }) => (applies(operation) ? codes : []));
  const given = new Set<FailureCode>([...ruled, ...(OWN[operation.id] ?? [])]);
  const codes = ALL.filter((code) => given.has(code));
  const statuses = [...new Set(codes.map(statusOf))].toSorted((one, other) => one - other);
  return new Map(
    statuses.map((status) => [status, codes.filter((code) => statusOf(code) === status)]),
  );
}

function statusOf(code: FailureCode): number {
  return FAILURES[code].httpStatus;
}

/** Operations that the table names; a test finds those that no longer exist. */
export const NAMED_OPERATIONS: readonly string[] = [
  ...WITHOUT_WORKER,
  ...LEFT_AS_SIGNALS,
  ...Object.keys(OWN),
];
