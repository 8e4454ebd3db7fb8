/** The secrets of one request: resolves them, inserts them, and redacts them from the response. Runs in the worker. */
import type { CallContext } from '../../define/tool/context.js';
import type { Secret } from '../../define/tool/http-plan.js';
import { MIN_SECRET_CHARS } from '../../protocol/limits/service-limits.js';
import type { Json } from '../../protocol/values/json.js';
import { Redactor } from '../shared/redact.js';
import { HttpProblem } from './problem.js';

export class Secrets {
  readonly #redactor = new Redactor();
  readonly #ctx: CallContext<never>;

  constructor(ctx: CallContext<never>) {
    this.#ctx = ctx;
  }

  /**
   * Resolves a secret and adds its prefix.
   * @param place its place in the definition: the only detail in an error about a missing secret
   * @throws {HttpProblem} when there is none; only the kind of the underlying error goes to the log
   */
  async resolve(secret: Secret<never>, place: string): Promise<string> {
    const value = await this.#valueOf(secret, place);
    if (typeof value !== 'string' || value === '')
      throw new HttpProblem(`The secret for ${place} is not there`);
    if (value.length < MIN_SECRET_CHARS)
      throw new HttpProblem(
        `The secret for ${place} has fewer than ${MIN_SECRET_CHARS} characters: it could not be kept out of results`,
      );
    this.#redactor.add(value);
    return `${secret.prefix}${value}`;
  }

  /** Returns the text without any secret of this request. */
  redact(text: string): string {
    return this.#redactor.text(text);
  }

  redactJson(value: Json): Json {
    return this.#redactor.json(value);
  }

  async #valueOf({ source }: Secret<never>, place: string): Promise<unknown> {
    if (typeof source === 'string') return process.env[source];
    try {
      return await source(this.#ctx);
    } catch (error) {
      // The text of the error may hold the secret.
      const kind = error instanceof Error ? error.name : typeof error;
      this.#ctx.logger.error('secret not resolved', { place, kind });
      throw new HttpProblem(`The secret for ${place} could not be looked up`);
    }
  }
}
