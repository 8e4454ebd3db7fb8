/**
 * Id of the HTTP request that the present code works for. Updates and signals of conversations, and starts of forks,
 * have it in a header, so that the history of a workflow names the request that caused an event: the log lines of the
 * API name it as well. The workflow does not read it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Client, WorkflowClient, type WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';

/** Name of the header in histories. */
export const HTTP_REQUEST_ID_HEADER = 'colloquy-http-request-id';

const current = new AsyncLocalStorage<string>();

/** Runs a function, and all that it awaits, for an HTTP request. */
export function forHttpRequest<Result>(id: string, run: () => Result): Result {
  return current.run(id, run);
}

/** The same client with the header. Each call has the id of the request that makes it, or none outside of requests. */
export function withHttpRequestIds({ connection, workflow }: Client): WorkflowClient {
  // Clients of another copy of the SDK, and interceptors in their deprecated form, stay as they are.
  if (!(workflow instanceof WorkflowClient) || !Array.isArray(workflow.options.interceptors))
    return workflow;
  const { interceptors, loadedDataConverter, ...options } = workflow.options;
  return new WorkflowClient({
    ...options,
    connection,
    dataConverter: loadedDataConverter,
    interceptors: [...interceptors, naming],
  });
}

const naming: WorkflowClientInterceptor = {
  startWithDetails: (input, next) => next({ ...input, headers: named(input.headers) }),
  signal: (input, next) => next({ ...input, headers: named(input.headers) }),
  signalWithStart: (input, next) => next({ ...input, headers: named(input.headers) }),
  startUpdate: (input, next) => next({ ...input, headers: named(input.headers) }),
  startUpdateWithStart: (input, next) =>
    next({ ...input, updateHeaders: named(input.updateHeaders) }),
};

function named(headers: Headers): Headers {
  const id = current.getStore();
  if (id === undefined) return headers;
  return { ...headers, [HTTP_REQUEST_ID_HEADER]: defaultPayloadConverter.toPayload(id) };
}
