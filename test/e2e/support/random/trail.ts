/** What was put into a conversation, and what its sender was told: the other half of what the log must agree with. */
export interface Input {
  readonly what:
    | 'message'
    | 'event'
    | 'resolution'
    | 'extension'
    | 'claim'
    | 'cancel'
    | 'roll-over'
    | 'garbage';
  readonly door: 'client' | 'http' | 'signal';
  /** Request id, or id of the event. */
  readonly id: string;
  readonly toolCallId?: string;
  /** The resolution or the text. */
  readonly of?: unknown;
  /** `sent` for signals, else the status, the verdict or the code of the refusal. */
  readonly said: string;
  /** Of what the sender was told to be recorded, now or by its first try. */
  readonly seq?: number;
}

/** Nobody knows yet, but the input is durable. */
const DURABLE: readonly string[] = ['sent', 'queued'];
const TAKEN: readonly string[] = ['admitted', 'accepted', 'accepted_late', 'duplicate', 'done'];
/** Not confirmed: it may still be taken. */
const OPEN: readonly string[] = ['no_worker', 'temporal_unreachable', 'no_reply'];

/** All inputs of one kind that share their id (and call): they are one input. */
export interface Repeats {
  readonly id: string;
  readonly toolCallId: string | undefined;
  readonly inputs: readonly Input[];
  /** Somebody was told that it is recorded. */
  readonly taken: boolean;
  /** A signal was left. */
  readonly durable: boolean;
  /** Everybody was told that it was not taken. */
  readonly refused: boolean;
}

export class Trail {
  readonly inputs: Input[] = [];

  note(input: Input): void {
    this.inputs.push(input);
  }

  of(what: Input['what']): readonly Input[] {
    return this.inputs.filter((input) => input.what === what);
  }

  repeats(what: Input['what']): readonly Repeats[] {
    const groups = new Map<string, Input[]>();
    for (const input of this.of(what)) {
      const key = `${input.id} ${input.toolCallId ?? ''}`;
      groups.set(key, [...(groups.get(key) ?? []), input]);
    }
    return [...groups.values()].map((inputs) => {
      const said = inputs.map((input) => input.said);
      return {
        id: inputs[0]?.id ?? '',
        toolCallId: inputs[0]?.toolCallId,
        inputs,
        taken: said.some((word) => TAKEN.includes(word)),
        durable: said.some((word) => DURABLE.includes(word)),
        refused: !said.some((word) => [...TAKEN, ...DURABLE, ...OPEN].includes(word)),
      };
    });
  }

  toString(): string {
    return this.inputs.map((input) => JSON.stringify(input)).join('\n');
  }
}
