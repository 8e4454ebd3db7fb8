/**
 * The failure table: every refusal and failure with its code, HTTP status and retry. A code is the `type` of a failure
 * that crosses Temporal, and the `code` of an error in a process and of a problem document on HTTP.
 */

export interface FailureRow {
  readonly httpStatus: number;
  readonly title: string;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable: boolean;
}

export const FAILURES = {
  // Refusals of requests.
  invalid_request: { httpStatus: 422, title: 'The request breaks a rule', retryable: false },
  malformed_request: { httpStatus: 400, title: 'The request is not HTTP', retryable: false },
  malformed_json: { httpStatus: 400, title: 'The body is not JSON', retryable: false },
  unauthenticated: { httpStatus: 401, title: 'Not identified', retryable: false },
  identity_unavailable: {
    httpStatus: 503,
    title: 'Identities cannot be checked now',
    retryable: true,
  },
  forbidden: { httpStatus: 403, title: 'Forbidden', retryable: false },
  host_not_allowed: { httpStatus: 421, title: 'Host not allowed', retryable: false },
  origin_not_allowed: { httpStatus: 403, title: 'Origin not allowed', retryable: false },
  unsupported_media_type: {
    httpStatus: 415,
    title: 'The content type is not JSON',
    retryable: false,
  },
  headers_too_large: {
    httpStatus: 431,
    title: 'The request line and the headers are too large',
    retryable: false,
  },
  request_timeout: { httpStatus: 408, title: 'The request did not come in time', retryable: true },
  body_too_large: { httpStatus: 413, title: 'The body is too large', retryable: false },
  unknown_agent: { httpStatus: 404, title: 'No such agent', retryable: false },
  unknown_conversation: { httpStatus: 404, title: 'No such conversation', retryable: false },
  unknown_turn: { httpStatus: 404, title: 'No such turn', retryable: false },
  unknown_step: { httpStatus: 404, title: 'No such step', retryable: false },
  unknown_rule: { httpStatus: 404, title: 'No such rule', retryable: false },
  unknown_blob: { httpStatus: 404, title: 'No such stored value', retryable: false },
  unknown_trigger: { httpStatus: 404, title: 'No such trigger', retryable: false },
  too_many_triggers: {
    httpStatus: 409,
    title: 'The conversation has too many triggers',
    retryable: false,
  },
  unknown_what_if: { httpStatus: 404, title: 'No such what-if', retryable: false },
  unknown_webhook: { httpStatus: 404, title: 'No such webhook', retryable: false },
  too_many_webhooks: {
    httpStatus: 409,
    title: 'The tenant has too many webhooks',
    retryable: false,
  },
  unknown_space: { httpStatus: 404, title: 'No such space', retryable: false },
  not_a_member: { httpStatus: 403, title: 'Not a member of the space', retryable: false },
  too_many_members: {
    httpStatus: 409,
    title: 'The space has too many members',
    retryable: false,
  },
  not_found: { httpStatus: 404, title: 'No such route', retryable: false },
  method_not_allowed: { httpStatus: 405, title: 'Method not allowed', retryable: false },
  agent_mismatch: {
    httpStatus: 409,
    title: 'The conversation belongs to another agent',
    retryable: false,
  },
  busy: { httpStatus: 409, title: 'A turn is running', retryable: true },
  rate_limited: { httpStatus: 429, title: 'The caller sends too many requests', retryable: true },
  request_running: {
    httpStatus: 409,
    title: 'The same request is still being answered',
    retryable: true,
  },
  queue_full: { httpStatus: 429, title: 'Too many messages wait', retryable: true },
  conversation_closed: { httpStatus: 410, title: 'The conversation is closed', retryable: false },
  agent_not_served: {
    httpStatus: 503,
    title: 'No worker serves the agent any more',
    retryable: true,
  },
  duplicate: { httpStatus: 200, title: 'The request was accepted before', retryable: false },
  // Verdicts travel as failures of this type, so that refused updates leave no history.
  verdict: { httpStatus: 409, title: 'The resolution was not accepted', retryable: false },
  // Infrastructure.
  temporal_unreachable: {
    httpStatus: 503,
    title: 'The Temporal server cannot be reached',
    retryable: true,
  },
  no_worker: { httpStatus: 503, title: 'No worker answers', retryable: true },
  workflow_failing: {
    httpStatus: 503,
    title: 'The workflow of the conversation fails',
    retryable: true,
  },
  workers_busy: {
    httpStatus: 503,
    title: 'The workers have more requests than they can answer',
    retryable: true,
  },
  store_unavailable: { httpStatus: 503, title: 'The event log cannot be read', retryable: true },
  transcript_lost: {
    httpStatus: 500,
    title: 'Messages of the conversation are lost',
    retryable: true,
  },
  timeout: { httpStatus: 504, title: 'The answer did not come in time', retryable: true },
  internal: { httpStatus: 500, title: 'Internal error', retryable: true },
  // Model calls.
  model_bad_request: { httpStatus: 502, title: 'The model refused the request', retryable: false },
  model_unauthorized: { httpStatus: 502, title: 'The model key was refused', retryable: false },
  model_not_found: { httpStatus: 502, title: 'The model does not exist', retryable: false },
  model_rate_limited: { httpStatus: 503, title: 'The model is rate limited', retryable: true },
  plugin_failed: { httpStatus: 500, title: 'A plugin of the agent failed', retryable: true },
  model_unavailable: { httpStatus: 503, title: 'The model cannot be reached', retryable: true },
  model_stream_broken: { httpStatus: 503, title: "The model's stream broke off", retryable: true },
  model_empty_answer: { httpStatus: 502, title: 'The model answered nothing', retryable: true },
  model_content_filtered: {
    httpStatus: 502,
    title: 'The model provider filtered the answer',
    retryable: false,
  },
  model_context_too_long: {
    httpStatus: 502,
    title: 'The conversation is too long for the model',
    retryable: false,
  },
  model_answer_too_large: {
    httpStatus: 502,
    title: 'The model answered more than a conversation can hold',
    retryable: false,
  },
  model_invalid_output: {
    httpStatus: 502,
    title: 'The model did not answer in the form that was asked for',
    retryable: false,
  },
  script_exhausted: {
    httpStatus: 502,
    title: 'The scripted model has no answer left',
    retryable: false,
  },
  // Tools, as infrastructure failures of their activity (a thrown error is a result instead).
  tool_lost: { httpStatus: 500, title: 'The tool run was lost', retryable: true },
  definition_changed: {
    httpStatus: 409,
    title: 'The tool was changed after it was called',
    retryable: false,
  },
  tool_retry: { httpStatus: 503, title: 'The tool asks to be run again', retryable: true },
  not_admitted: { httpStatus: 409, title: 'The run admitted nothing', retryable: false },
} as const satisfies Readonly<Record<string, FailureRow>>;

export type FailureCode = keyof typeof FAILURES;

export function isFailureCode(value: unknown): value is FailureCode {
  return typeof value === 'string' && Object.hasOwn(FAILURES, value);
}
