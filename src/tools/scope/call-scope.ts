/** The services, secrets and connections of one call, and the secrets that must not leave it. Runs in the worker. */
import type { Connection, SecretUser } from '../../define/services/secrets.js';
import type { Logger } from '../../define/tool/context.js';
import type { Json } from '../../protocol/values/json.js';
import { Redactor } from '../shared/redact.js';
import type { Lease } from './leases.js';

/** The tenant of a conversation, and the sender of the message of its turn. */
export interface ScopeOwner {
  readonly tenant: string;
  readonly user?: SecretUser | undefined;
}

/** An opened connection with the secrets that opened it. */
export interface Opened<Value> {
  readonly value: Value;
  readonly secrets: readonly string[];
}

/** Finds secrets, and opens connections. */
interface ScopeSource {
  secretOf(owner: ScopeOwner, name: string): Promise<string>;
  connect<Value>(connection: Connection<Value>, owner: ScopeOwner): Promise<Lease<Opened<Value>>>;
}

interface CallScopeParts {
  readonly owner: ScopeOwner;
  readonly services: Lease<unknown>;
}

export class CallScope {
  /** Also of nested code, such as the request of an HTTP tool. */
  readonly redactor = new Redactor();
  readonly #scopes: ScopeSource;
  readonly #parts: CallScopeParts;
  readonly #asked = new Map<string, Promise<string>>();
  readonly #taken = new Map<Connection<unknown>, Promise<Lease<Opened<unknown>>>>();
  #isKeeping = false;

  constructor(scopes: ScopeSource, parts: CallScopeParts) {
    this.#scopes = scopes;
    this.#parts = parts;
  }

  get services(): unknown {
    return this.#parts.services.value;
  }

  /** Functions without `this`, so that code may take them apart. */
  readonly secret = (name: string): Promise<string> => {
    const asked = this.#asked.get(name) ?? this.#found(name);
    this.#asked.set(name, asked);
    return asked;
  };

  readonly connection = async <Value>(connection: Connection<Value>): Promise<Value> => {
    const taken =
      this.#taken.get(connection as Connection<unknown>) ??
      this.#scopes.connect(connection as Connection<unknown>, this.#parts.owner);
    this.#taken.set(connection as Connection<unknown>, taken);
    const { value } = await taken;
    this.#keep(value.secrets);
    return value.value as Value;
  };

  /** The value without any secret of this scope. */
  clean<Value>(value: Value): Value {
    if (!this.#isKeeping || value === undefined) return value;
    return this.redactor.json(JSON.parse(JSON.stringify(value)) as Json) as Value;
  }

  /** The same error, without any secret in its texts and those of its causes. */
  cleanError(error: unknown): unknown {
    if (!this.#isKeeping) return error;
    const seen = new Set<unknown>();
    for (let each = error; each instanceof Error && !seen.has(each); each = each.cause) {
      seen.add(each);
      each.message = this.redactor.text(each.message);
      if (each.stack !== undefined) each.stack = this.redactor.text(each.stack);
    }
    return error;
  }

  /** A logger that writes no secret of this scope. */
  cleanLogger(logger: Logger): Logger {
    const clean =
      (level: keyof Logger): Logger['info'] =>
      (message, fields) => {
        if (!this.#isKeeping) logger[level](message, fields);
        else logger[level](this.redactor.text(message), this.#cleanFields(fields));
      };
    return {
      debug: clean('debug'),
      info: clean('info'),
      warn: clean('warn'),
      error: clean('error'),
    };
  }

  /** Lets services and connections go. Safe to repeat. */
  release(): void {
    this.#parts.services.release();
    for (const taken of this.#taken.values())
      void taken.then(
        (lease) => {
          lease.release();
        },
        () => undefined,
      );
  }

  async #found(name: string): Promise<string> {
    const value = await this.#scopes.secretOf(this.#parts.owner, name);
    this.#keep([value]);
    return value;
  }

  #keep(secrets: readonly string[]): void {
    if (secrets.length === 0) return;
    this.redactor.add(...secrets);
    this.#isKeeping = true;
  }

  #cleanFields(
    fields: Readonly<Record<string, unknown>> | undefined,
  ): Readonly<Record<string, unknown>> | undefined {
    if (fields === undefined) return undefined;
    return Object.fromEntries(
      Object.entries(fields).map(([key, value]) => {
        if (value instanceof Error) return [key, this.cleanError(value)];
        try {
          return [key, this.clean(value)];
        } catch {
          return [key, '[not shown]'];
        }
      }),
    );
  }
}
