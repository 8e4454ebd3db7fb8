/** An input to a conversation, with the reply of its sender. The log must agree with all of them. */
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
  readonly via: 'client' | 'http' | 'signal';
  /** The request id, or the id of the event. */
  readonly id: string;
  readonly toolCallId?: string;
  /** The resolution or the text. */
  readonly of?: unknown;
  /** `sent` for signals, else the status, the verdict or the code of the refusal. */
  readonly said: string;
  /** The seq that a reply named, for this input or its first attempt. */
  readonly seq?: number;
}

/** Replies without a verdict yet; the input is durable. */
const DURABLE: readonly string[] = ['sent', 'queued'];
const TAKEN: readonly string[] = ['admitted', 'accepted', 'accepted_late', 'duplicate', 'done'];
/** Unconfirmed inputs, which may still be taken. */
const OPEN: readonly string[] = ['no_worker', 'temporal_unreachable', 'no_reply'];

/** All inputs of one kind with the same id (and call); they count as one input. */
export interface Repeats {
  readonly id: string;
  readonly toolCallId: string | undefined;
  readonly inputs: readonly Input[];
  /** Some reply confirmed that the input is recorded. */
  readonly taken: boolean;
  /** A signal was sent. */
  readonly durable: boolean;
  /** Every reply refused the input. */
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
