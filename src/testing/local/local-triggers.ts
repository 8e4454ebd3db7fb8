/** The triggers of a test conversation, on its virtual clock. */
import { FAILURES, type FailureCode } from '../../protocol/failures/failures.js';
import { MAX_TRIGGERS } from '../../protocol/limits/service-limits.js';
import {
  nextTriggerTime,
  triggerProblems,
  triggerTextProblem,
} from '../../protocol/triggers/rules.js';
import {
  declaredFields,
  isSameTrigger,
  type Trigger,
  type TriggerMaker,
  type TriggerSpec,
  type Triggers,
  triggerEventOf,
} from '../../protocol/triggers/triggers.js';
import type { StampedActor } from '../../protocol/values/actors.js';

/** Thrown for a request about triggers that was refused; `code` is of the failure table. */
export class TriggerRefused extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string = FAILURES[code].title) {
    super(message);
    this.name = 'TriggerRefused';
    this.code = code;
  }
}

export interface TriggerHost {
  readonly now: () => number;
  readonly isClosed: () => boolean;
  readonly idleCloseMs: () => number;
}

interface Made extends Omit<Trigger, 'status' | 'nextAt'> {
  readonly paused: boolean;
  readonly nextMs: number | undefined;
}

/** The event of a trigger that is due at that time. */
export interface DueTrigger {
  readonly type: 'trigger_due';
  readonly deadline: string;
  readonly triggerId: string;
}

export interface MadeBy {
  readonly madeBy: TriggerMaker;
  readonly createdBy: StampedActor;
  readonly nextId?: () => string;
}

export class LocalTriggers {
  readonly #host: TriggerHost;
  readonly #made = new Map<string, Made>();
  #count = 0;

  constructor(host: TriggerHost) {
    this.#host = host;
  }

  /** The triggers, as their maker works with them. */
  by(maker: MadeBy): Triggers {
    return {
      create: async (spec, { replaces = [] } = {}) => {
        const made = this.#create(spec, maker, replaces);
        for (const id of replaces) if (id !== made.id) this.#made.delete(id);
        return made;
      },
      list: async () => [...this.#made.values()].map(shown),
      get: async (id) => shown(this.#existing(id)),
      setNote: async (id, note) => this.#setNote(id, note),
      pause: async (id) => this.#changed(id, { paused: true }),
      resume: async (id) => this.#resume(id),
      remove: async (id) => {
        this.#made.delete(this.#existing(id).id);
      },
    };
  }

  /** The next events, of triggers that are not paused. */
  due(): readonly DueTrigger[] {
    return [...this.#made.values()].flatMap(({ id, nextMs, paused }) =>
      nextMs === undefined || paused
        ? []
        : [
            {
              type: 'trigger_due',
              deadline: new Date(nextMs).toISOString(),
              triggerId: id,
            } as const,
          ],
    );
  }

  /** The event that comes now; its trigger continues, or is gone. */
  fire({ triggerId, deadline }: DueTrigger): ReturnType<typeof triggerEventOf> {
    const made = this.#existing(triggerId);
    const invocations = made.invocations + 1;
    const max = made.schedule.type === 'once' ? 1 : made.maxInvocations;
    const isLast = max !== undefined && invocations >= max;
    const dueMs = Date.parse(deadline);
    const nextMs = isLast ? undefined : nextTriggerTime(made, Date.parse(made.createdAt), dueMs);
    if (nextMs === undefined) this.#made.delete(triggerId);
    else this.#made.set(triggerId, { ...made, invocations, nextMs });
    return triggerEventOf({ ...made, triggerId, scheduledAt: deadline });
  }

  remove(triggerId: string): void {
    this.#made.delete(triggerId);
  }

  #create(
    spec: TriggerSpec,
    { madeBy, createdBy, nextId }: MadeBy,
    replaces: readonly string[],
  ): Trigger {
    const nowMs = this.#host.now();
    this.#count += 1;
    const id = spec.id ?? nextId?.() ?? `trigger-${this.#count}`;
    const known = this.#made.get(id);
    if (known !== undefined) {
      if (isSameTrigger(known, spec)) return shown(known);
      const text = 'id: was used before for a trigger with other content';
      throw new TriggerRefused('invalid_request', text);
    }
    const [problem] = triggerProblems(spec, { nowMs, idleCloseMs: this.#host.idleCloseMs() });
    if (problem !== undefined)
      throw new TriggerRefused('invalid_request', `${problem.path.slice(1)} ${problem.message}`);
    if (this.#host.isClosed()) throw new TriggerRefused('conversation_closed');
    const others = [...this.#made.keys()].filter((each) => !replaces.includes(each));
    if (others.length >= MAX_TRIGGERS) throw new TriggerRefused('too_many_triggers');
    const made: Made = {
      id,
      ...declaredFields(spec),
      ...{ madeBy, createdBy, createdAt: new Date(nowMs).toISOString() },
      ...{ invocations: 0, paused: false, nextMs: nextTriggerTime(spec, nowMs, nowMs) },
    };
    this.#made.set(id, made);
    return shown(made);
  }

  #setNote(id: string, note: string): Trigger {
    const problem = triggerTextProblem(note);
    if (problem !== undefined) throw new TriggerRefused('invalid_request', `note ${problem}`);
    const { note: _old, ...rest } = this.#existing(id);
    const changed = { ...rest, ...(note === '' ? {} : { note }) };
    this.#made.set(id, changed);
    return shown(changed);
  }

  /** Events that fell due in the pause do not come later. */
  #resume(id: string): Trigger {
    const made = this.#existing(id);
    const nextMs = nextTriggerTime(made, Date.parse(made.createdAt), this.#host.now());
    return this.#changed(id, { paused: false, nextMs });
  }

  #changed(id: string, change: Partial<Made>): Trigger {
    const changed = { ...this.#existing(id), ...change };
    this.#made.set(id, changed);
    return shown(changed);
  }

  #existing(id: string): Made {
    const made = this.#made.get(id);
    if (made === undefined) throw new TriggerRefused('unknown_trigger', `No trigger "${id}"`);
    return made;
  }
}

function shown({ paused, nextMs, ...made }: Made): Trigger {
  const status = nextMs === undefined ? 'ended' : paused ? 'paused' : 'active';
  return {
    ...made,
    status,
    ...(status === 'active' && nextMs !== undefined
      ? { nextAt: new Date(nextMs).toISOString() }
      : {}),
  };
}
