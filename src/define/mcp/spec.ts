/** The fields of `mcpServer`, and the one place where they stand. Types only. */

import type { Effects } from '../../protocol/calls/executors.js';
import type { Retention } from '../../protocol/conversation/context.js';
import type { StampedActor } from '../../protocol/values/actors.js';
import type { AudienceSpec } from '../checks/audience.js';
import type { Duration } from '../checks/durations.js';
import type { UntypedServices } from '../tool/context.js';
import type { ApprovalRequest, ToolPolicy } from '../tool/policy.js';

/** What resolvers of secrets are given. Called in the worker; what they return goes to the server and nowhere else. */
export interface McpMeans<Services = UntypedServices> {
  readonly services: Services;
  /** The server refused what was given last: look for something newer than a cached token. */
  readonly refused: boolean;
  /** What the server said when it refused: its `WWW-Authenticate`, with what is missing and where to get it. */
  readonly challenge?: string;
  /** Whose request it is, as `identity` has it. Absent: the worker's own, which lists the tools. */
  readonly caller?: McpCaller;
}

/** Whose calls a connection carries. */
export interface McpCaller {
  readonly tenant: string;
  /** Who has sent the message of the turn. Absent with `identity: 'tenant'`. */
  readonly requester?: Pick<StampedActor, 'id' | 'verified'>;
}

/** A value, or where to get it. A function is asked anew for every request (`token`, `headers`) or start (`env`). */
export type Resolved<Value, Services> =
  | Value
  | ((means: McpMeans<Services>) => Value | Promise<Value>);

/** Clocks of an MCP server and of each call of its tools. */
export interface McpTimeouts {
  /** Reaching the server. @defaultValue 10 seconds */
  readonly connect?: Duration;
  /** Listing its tools. A turn waits no longer for a first listing. @defaultValue 10 seconds */
  readonly list?: Duration;
  /** How long an approval may take. @defaultValue 24 hours */
  readonly approval?: Duration;
  /** How long the answer to a question of the server may take. @defaultValue 24 hours */
  readonly answer?: Duration;
  /** One request. @defaultValue 1 minute */
  readonly run?: Duration;
  /** All waits and requests of a call together. */
  readonly total?: Duration;
}

interface SharedFields<Services> {
  /** A word of letters, digits, "-" and single "_", up to 24 characters; unique among the agent's servers. */
  readonly name: string;
  /** `'http'` is streamable HTTP. It follows from `url` or `command` anyway; one that disagrees is a fault. */
  readonly transport?: 'http' | 'stdio';
  /** The tools that the agent may have, by their names on the server. @defaultValue all that it lists */
  readonly allowedTools?: readonly string[];
  /**
   * `true`: every tool is named `<server>.<tool>`. `false`: tools keep their names, and only one whose name is taken - by a tool of
   * the agent, or of a server before it - is named so. @defaultValue true
   */
  readonly prefix?: boolean;
  /**
   * Whether a person must agree before a call runs. `'destructive'`: unless the server says of the tool that it only reads
   * (`readOnlyHint`) or destroys nothing (`destructiveHint: false`). A function decides for each call, and is told the tool's
   * `annotations`. They are the server's own word: do not let them open a gate for a server that you do not trust.
   * @defaultValue 'auto'
   */
  readonly approval?: 'auto' | 'required' | 'destructive' | ApprovalRequest | ToolPolicy<Services>;
  /**
   * What a second run of a tool would do: of all of them, or by name. @defaultValue what the server says: `'none'` for
   * `readOnlyHint`, `'idempotent'` for `idempotentHint`, else `'once'`
   */
  readonly effects?: Effects | Readonly<Record<string, Effects>>;
  readonly timeouts?: McpTimeouts;
  /** How long a listing is used before it is asked for again, in the background. @defaultValue 5 minutes */
  readonly refreshAfter?: Duration;
  /** Who may answer what the server asks; an approval has an audience of its own. @defaultValue anybody */
  readonly audience?: AudienceSpec;
  /** As of a tool. */
  readonly retention?: Retention;
  /** As of a tool. */
  readonly maxResultBytes?: number;
  /**
   * What a question does that a server of a protocol before 2026-07-28 pushes into a call that it holds open. `'ask'`: the call is
   * given up, somebody is asked, and with the answer the call is made again from its start. `'hold'`: the call stays open in its worker
   * until somebody has answered, and is lost with it (`outcome_unknown`). `'cancel'`: the server is told that nobody answers.
   * @defaultValue 'hold' for tools whose effects are `'once'`, else 'ask'
   */
  readonly pushedQuestions?: 'ask' | 'hold' | 'cancel';
}

/** A server that is reached by streamable HTTP. */
export interface McpHttpServerSpec<Services = UntypedServices> extends SharedFields<Services> {
  readonly url: string;
  /**
   * Bearer token of every request. Never recorded, logged or shown. A function that has none gives undefined: the server then says what
   * it wants (`challenge`).
   */
  readonly token?: Resolved<string | undefined, Services>;
  /** Sent with every request; may hold secrets as the token does. */
  readonly headers?: Resolved<Readonly<Record<string, string>>, Services>;
  /**
   * Whose connection carries a call: the worker's, or one of the conversation's tenant, or of the turn's requester, who then are
   * `caller` to `token` and `headers`. Tools are listed once for all, by the worker. @defaultValue 'worker'
   */
  readonly identity?: 'worker' | 'tenant' | 'requester';
}

/** A server that the worker starts as a process of its own, and stops when it stops itself. */
export interface McpStdioServerSpec<Services = UntypedServices> extends SharedFields<Services> {
  readonly command: string;
  readonly args?: readonly string[];
  /**
   * All that the process sees of an environment, beside `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER`; may hold secrets as a
   * token does.
   */
  readonly env?: Resolved<Readonly<Record<string, string>>, Services>;
  readonly cwd?: string;
}

/** Everything that `mcpServer` takes. */
export type McpServerSpec<Services = UntypedServices> =
  | McpHttpServerSpec<Services>
  | McpStdioServerSpec<Services>;
