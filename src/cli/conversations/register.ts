/** Adds the commands on conversations to the program. Each is loaded when it runs. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { STATUS_FILTERS, type StatusFilter } from '../../protocol/conversation/statuses.js';
import { retry, seconds } from '../process/options.js';
import { givenOrAsked, isAsking, systemTerminal } from '../terminal/prompts.js';
import type { CancelFlags, ResolveFlags, SendFlags } from './answer-command.js';
import type { ForkFlags } from './fork-command.js';
import type { ListFlags } from './list-command.js';
import type { ActorFlags, CommonFlags } from './opened.js';
import type { PendingFlags } from './pending-command.js';
import type { ExportFlags, TailFlags } from './tail-command.js';
import type { WhatIfFlags, WhatIfsFlags } from './what-if-command.js';

function count(text: string): number {
  if (!/^\d{1,3}$/.test(text) || Number(text) > 100)
    throw new InvalidArgumentError('It must be a whole number from 0 to 100.');
  return Number(text);
}

const gathered = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

function statusOf(text: string): StatusFilter {
  const status = STATUS_FILTERS.find((known) => known === text);
  if (status === undefined)
    throw new InvalidArgumentError(`It must be one of ${STATUS_FILTERS.join(', ')}.`);
  return status;
}

export function addConversationCommands(program: Command): void {
  const reading: Add = (usage, description) =>
    onConversations(program, usage, description).option('--json', 'print JSON');
  const writing: Add = (usage, description) =>
    asPerson(program, usage, description).option('--json', 'print JSON');
  addReading(reading);
  addWhatIfs(reading);
  addPending(writing);
  addWriting(writing);
  addPlaying(writing);
}

function onConversations(program: Command, usage: string, description: string): Command {
  return program
    .command(usage)
    .description(description)
    .option('--tenant <tenant>', 'whose conversations (default: "default")')
    .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
    .option(...retry(0));
}

/** A command that acts in the name of a person. */
export function asPerson(program: Command, usage: string, description: string): Command {
  return onConversations(program, usage, description)
    .option('--as <id>', 'the person in whose name (default: the user of the system)')
    .option('--role <role>', 'a role of that person; may be repeated', gathered);
}

type Add = (usage: string, description: string) => Command;

function addReading(command: Add): void {
  command('list', 'List conversations, newest first')
    .option('--status <status>', STATUS_FILTERS.join(', '), statusOf)
    .option('--agent <name>', 'only those of this agent')
    .option('--limit <n>', 'at most so many, up to 100', count, 20)
    .option('--cursor <cursor>', 'the next page')
    .action(async (flags: ListFlags) => {
      const { runList } = await import('./list-command.js');
      await runList(flags);
    });
  command('show <id>', 'Show a conversation: its status, what runs, and what waits').action(
    async (id: string, flags: CommonFlags) => {
      const { runShow } = await import('./list-command.js');
      await runShow(id, flags);
    },
  );
  command('tail <id>', 'Print the last events of a conversation')
    .option('-f, --follow', 'and those that come')
    .option('--until-idle', 'and those that come until the turn has ended')
    .option('--last <n>', 'events before them, up to 100', count, 20)
    .action(async (id: string, flags: TailFlags) => {
      const { runTail } = await import('./tail-command.js');
      await runTail(id, flags);
    });
  command('export <id>', 'Write the whole log, an event of JSON on each line')
    .option('--format <format>', 'events, or test: a test that plays the conversation again')
    .option('--from <module>', 'with test: the module that exports the agent')
    .action(async (id: string, flags: ExportFlags) => {
      const { runExport } = await import('./tail-command.js');
      await runExport(id, flags);
    });
}

function addWhatIfs(command: Add): void {
  command('what-ifs <id>', 'List the what-ifs of a conversation, newest first')
    .option('--limit <n>', 'at most so many, up to 100', count, 20)
    .option('--cursor <cursor>', 'the next page')
    .addOption(ofOne('--show <whatIfId>', 'print this one, step by step').conflicts('cancel'))
    .addOption(ofOne('--cancel <whatIfId>', 'stop this one; its finished steps stay readable'))
    .action(async (id: string, flags: WhatIfsFlags) => {
      const { runWhatIfs } = await import('./what-if-command.js');
      await runWhatIfs(id, flags);
    });
}

/** An option for one entry, beside which none for a list may be given. */
function ofOne(flags: string, description: string): Option {
  return new Option(flags, description).conflicts(['limit', 'cursor']);
}

function addPending(asPerson: Add): void {
  asPerson('pending [id]', 'List the calls that wait, each with the command that answers it')
    .option('--for <id>', 'only what this person may answer, soonest deadline first')
    .option('--limit <n>', 'conversations at most, up to 100', count, 50)
    .option('--cursor <cursor>', 'the next page')
    .action(async (id: string | undefined, flags: PendingFlags) => {
      const { runPending } = await import('./pending-command.js');
      await runPending(id, flags);
    });
}

/** The parameters of an action: the arguments, the options, the command. */
type One<Flags> = [given: string | undefined, flags: Flags, command: Command];
type Two<Flags> = [
  id: string | undefined,
  text: string | undefined,
  flags: Flags,
  command: Command,
];

async function idOrAsked(id: string | undefined, command: Command): Promise<string> {
  return await givenOrAsked(id, {
    question: 'Conversation: ',
    refuse: () => missing(command, 'id'),
  });
}

/** The error of the parser for a required argument. */
function missing(command: Command, name: string): never {
  command.error(`error: missing required argument '${name}'`, {
    code: 'commander.missingArgument',
  });
}

function addWriting(asPerson: Add): void {
  asPerson('send [id] [text]', 'Send a message, and print the answer')
    .option('--agent <name>', 'starts the conversation with this agent')
    .option('--wait <seconds>', 'how long to wait for the answer; 0 = not at all', seconds, 60)
    .option('--request-id <id>', 'names the message: repeated under its name, it is one message')
    .option('--reopen', 'opens the conversation again where it is closed')
    .addHelpText('after', '\nExample: npx colloquy send order-42 "Where is it?" --agent support')
    .action(async (...[id, text, flags, command]: Two<SendFlags>) => {
      const named = await idOrAsked(id, command);
      const said = await givenOrAsked(text, {
        question: 'Message: ',
        refuse: () => missing(command, 'text'),
      });
      const { runSend } = await import('./answer-command.js');
      await runSend(named, said, flags);
    });
  asPerson('resolve [ref]', 'Answer a call that waits; the ref is in "colloquy pending"')
    .option('--approve', 'let it run')
    .option('--input <json>', 'with --approve: the input to run instead')
    .option('--deny [reason]', 'do not let it run')
    .option('--answer <json>', 'answer a question')
    .option('--decline [reason]', 'do not answer a question')
    .option('--result <json>', 'the result of a call that a client or another backend runs')
    .option('--error <message>', 'the failure of such a call')
    .option('--resolution <json>', 'any resolution, as the API takes it')
    .option('--digest <digest>', 'refuse the answer when the arguments have changed')
    .option('--claim <claimId>', 'the claim under which the call was run')
    .option('--request-id <id>', 'names the answer: repeated under its name, it is one answer')
    .addHelpText(
      'after',
      '\nPrints the verdict. Asks for what is missing when both ends are a terminal. Exits with 1 when the answer was refused.\nExample: npx colloquy resolve default~order-42~call_1 --approve --as ada',
    )
    .action(async (...[ref, flags, command]: One<ResolveFlags>) => {
      if (ref === undefined && !isAsking(systemTerminal())) missing(command, 'ref');
      const { runResolve } = await import('./answer-command.js');
      await runResolve(ref, flags);
    });
  asPerson('cancel [id]', 'Stop the running turn')
    .option('--turn <turnId>', 'only this turn')
    .option('--reason <text>', 'why')
    .action(async (...[id, flags, command]: One<CancelFlags>) => {
      const named = await idOrAsked(id, command);
      const { runCancel } = await import('./answer-command.js');
      await runCancel(named, flags);
    });
  asPerson('close [id]', 'Close a conversation').action(
    async (...[id, flags, command]: One<ActorFlags>) => {
      const named = await idOrAsked(id, command);
      const { runClose } = await import('./answer-command.js');
      await runClose(named, flags);
    },
  );
}

function addPlaying(asPerson: Add): void {
  asPerson('fork <id>', 'Begin a conversation with the state of another one at a finished step')
    .option(
      '--at <generation-seq>',
      'the place in the log, such as 1-42 (default: its last finished step)',
    )
    .option('--reopen <callId>', 'a call that waits anew; may be repeated', gathered)
    .option('--id <id>', 'id of the fork')
    .action(async (id: string, flags: ForkFlags) => {
      const { runFork } = await import('./fork-command.js');
      await runFork(id, flags);
    });
  asPerson('what-if <id>', 'Play a turn again with another prompt or model; no tool runs')
    .option('--turn <turnId>', 'the turn (default: the newest that a model has answered)')
    .option('--instructions <text>', 'in place of the instructions of the agent')
    .option('--agent <name>', 'the agent whose instructions, tools and model are used')
    .option('--model <name>', 'the model of another agent')
    .option('--max-steps <n>', 'model calls at most, up to 20', count)
    .option('--request-id <id>', 'names the what-if: repeated under its name, it is one')
    .option('--wait <seconds>', 'how long to wait for its end', seconds, 120)
    .addHelpText(
      'after',
      '\nPrints each step, recorded and new. Each costs a model call.\nExample: npx colloquy what-if order-42 --instructions "Answer in one sentence."',
    )
    .action(async (id: string, flags: WhatIfFlags) => {
      const { runWhatIf } = await import('./what-if-command.js');
      await runWhatIf(id, flags);
    });
}
