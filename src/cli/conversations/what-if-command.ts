/**
 * `colloquy what-if` plays a recorded turn again with another prompt or model, and prints both side by side;
 * `colloquy what-ifs` lists, shows and cancels those that were begun.
 */
import type {
  ListedWhatIf,
  WhatIfCancelled,
  WhatIfReport,
  WhatIfSide,
} from '../../protocol/workflow/what-if.js';
import { type ActorFlags, asJson, type CommonFlags, printNextPage, withClient } from './opened.js';
import { oneLine, table } from './text.js';

export interface WhatIfFlags extends ActorFlags {
  readonly turn?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly maxSteps?: number;
  readonly requestId?: string;
  /** Seconds to wait for the end. */
  readonly wait: number;
}

/** Prints each step, recorded and new. 1 when it has failed. */
export async function runWhatIf(id: string, flags: WhatIfFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { turn: turnId, agent, model, instructions, maxSteps, requestId, wait } = flags;
    const asked = { turnId, agent, model, instructions, maxSteps, requestId };
    const begun = await client.conversation(id).whatIf(asked);
    const report = await begun.result({ timeout: wait * 1_000 });
    print(flags.json === true ? asJson(report) : whatIfText(report));
    return report.state === 'failed' ? 1 : 0;
  });
}

export interface WhatIfsFlags extends CommonFlags {
  readonly limit: number;
  readonly cursor?: string;
  /** Id of the what-if to show instead of the list. */
  readonly show?: string;
  /** Id of the what-if to stop. */
  readonly cancel?: string;
}

/** Prints the list, one report, or what became of a cancel. */
export async function runWhatIfs(id: string, flags: WhatIfsFlags): Promise<never> {
  return await withClient(flags, async ({ client, print }) => {
    const { limit, cursor, show, cancel, json } = flags;
    const conversation = client.conversation(id);
    if (cancel !== undefined) {
      const cancelled = await conversation.cancelWhatIf(cancel);
      print(json === true ? asJson(cancelled) : cancelledText(cancelled));
      return 0;
    }
    if (show !== undefined) {
      const report = await conversation.whatIfReport(show);
      print(json === true ? asJson(report) : whatIfText(report));
      return 0;
    }
    const page = await conversation.whatIfs({ limit, ...(cursor === undefined ? {} : { cursor }) });
    if (json === true) {
      print(asJson(page));
      return 0;
    }
    const { whatIfs, nextCursor } = page;
    print(whatIfs.length === 0 ? 'No what-if.' : whatIfsText(whatIfs));
    printNextPage(print, nextCursor);
    return 0;
  });
}

export function whatIfsText(whatIfs: readonly ListedWhatIf[]): string {
  return table(
    ['ID', 'TURN', 'AGENT', 'STATE', 'STEPS', 'TOKENS', 'BEGUN'],
    whatIfs.map((whatIf) => {
      const { whatIfId, turnId, agent, state, begunAt } = whatIf;
      const sum =
        whatIf.state === 'running'
          ? ['-', '-']
          : [`${whatIf.stepCount}`, `${whatIf.usage.inputTokens + whatIf.usage.outputTokens}`];
      return [whatIfId, turnId, agent, state, ...sum, begunAt];
    }),
  );
}

export function cancelledText(cancelled: WhatIfCancelled): string {
  const { whatIfId, status } = cancelled;
  if (status === 'over') return `${whatIfId} is over: ${cancelled.state}`;
  const { warning } = cancelled;
  return `stopping ${whatIfId}${warning === undefined ? '' : `: ${oneLine(warning)}`}`;
}

/** The end first, then two lines for each step. */
export function whatIfText(report: WhatIfReport): string {
  const { state, turnId, agent, whatIfId } = report;
  const head = `what if, turn ${turnId}, agent ${agent}`;
  if (state === 'running') {
    const { warning } = report;
    const why = warning === undefined ? '' : `: ${oneLine(warning)}`;
    return `${head}: running as ${whatIfId}${why}`;
  }
  const { steps, usage } = report;
  return [
    `${head}: ${endText(report)}`,
    ...steps.flatMap(({ step, compared, recorded, answer }) => [
      `step ${step}: ${compared}`,
      `  recorded  ${recorded === undefined ? '-' : sideText(recorded)}`,
      `  now       ${sideText(answer)}`,
    ]),
    `used: ${usage.inputTokens} tokens in, ${usage.outputTokens} out`,
  ].join('\n');
}

function endText(report: Exclude<WhatIfReport, { readonly state: 'running' }>): string {
  switch (report.state) {
    case 'ended':
      return report.reason === 'answered' ? 'ended' : 'stopped after its last step';
    case 'cancelled':
      return 'cancelled';
    case 'failed':
      return `failed: ${oneLine(report.error.message)}`;
    case 'diverged': {
      const { step, name, arguments: given, reason } = report.diverged;
      const why = reason === 'no_result' ? 'has no result yet' : 'was not recorded';
      return `diverged at step ${step}: ${oneLine(name)} ${oneLine(given)} ${why}`;
    }
  }
}

function sideText({ text, calls }: WhatIfSide): string {
  const said = text.trim() === '' ? [] : [oneLine(text, 500)];
  return [...said, ...calls.map((call) => `${oneLine(call.name)} ${oneLine(call.arguments)}`)].join(
    ' | ',
  );
}
