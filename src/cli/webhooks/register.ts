/** Adds `colloquy webhooks` to the program. Each command is loaded when it runs. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WEBHOOK_EVENTS, type WebhookEventType } from '../../protocol/log/webhook-events.js';
import { DELIVERY_STATUSES } from '../../store/ports/webhooks.js';
import { retry } from '../process/options.js';
import type { AddFlags, DeliveryFlags, WebhookFlags } from './webhooks-command.js';

const TYPES = Object.keys(WEBHOOK_EVENTS) as readonly WebhookEventType[];

function typeOf(text: string, before: readonly WebhookEventType[] = []) {
  const type = TYPES.find((known) => known === text);
  if (type === undefined) throw new InvalidArgumentError(`It must be one of ${TYPES.join(', ')}.`);
  return [...before, type];
}

const gathered = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

const load = async () => await import('./webhooks-command.js');

export function addWebhookCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('Send events of conversations to other systems: endpoints and deliveries');
  const command = (usage: string, description: string): Command =>
    webhooks
      .command(usage)
      .description(description)
      .option('--tenant <tenant>', 'whose webhooks (default: all; of "add": "default")')
      .option('--json', 'print JSON')
      .option('--data <folder>', 'folder of the event log (COLLOQUY_DATA)')
      .option(...retry(0));
  addEndpointCommands(command);
  addDeliveryCommands(command);
}

type Add = (usage: string, description: string) => Command;

function addEndpointCommands(command: Add): void {
  command('list', 'List the endpoints').action(async (flags: WebhookFlags) => {
    await (await load()).runList(flags);
  });
  command('add <url>', 'Add an endpoint, and print its secret, which is shown only now')
    .option('--event <type>', 'only events of this type; may be repeated', typeOf)
    .option('--agent <name>', 'only of conversations with this agent; may be repeated', gathered)
    .option('--description <text>', 'for people')
    .addHelpText(
      'after',
      '\nExample: npx colloquy webhooks add https://example.com/hook --event conversation.turn.ended',
    )
    .action(async (url: string, flags: AddFlags) => {
      await (await load()).runAdd(url, flags);
    });
  command('remove <id>', 'Remove an endpoint with its deliveries').action(
    async (id: string, flags: WebhookFlags) => {
      await (await load()).runRemove(id, flags);
    },
  );
  command('rotate <id>', 'Print a new secret; the one before signs as well for a day').action(
    async (id: string, flags: WebhookFlags) => {
      await (await load()).runRotate(id, flags);
    },
  );
  command('pause <id>', 'Keep the events of an endpoint until it is resumed').action(
    async (id: string, flags: WebhookFlags) => {
      await (await load()).runStatus(id, 'paused', flags);
    },
  );
  command('resume <id>', 'Send what an endpoint has kept; also after it was disabled').action(
    async (id: string, flags: WebhookFlags) => {
      await (await load()).runStatus(id, 'active', flags);
    },
  );
}

function addDeliveryCommands(command: Add): void {
  command('test <id>', 'Send a "webhook.test" to an endpoint').action(
    async (id: string, flags: WebhookFlags) => {
      await (await load()).runTest(id, flags);
    },
  );
  command('deliveries <id>', 'List the deliveries of an endpoint, newest first')
    .addOption(
      new Option('--status <status>', 'only those with this status').choices([
        ...DELIVERY_STATUSES,
      ]),
    )
    .option('--cursor <cursor>', 'the next page')
    .action(async (id: string, flags: DeliveryFlags) => {
      await (await load()).runDeliveries(id, flags);
    });
  command(
    'resend <id> [deliveryId]',
    'Send a delivery again; without its id, all dead ones',
  ).action(async (id: string, deliveryId: string | undefined, flags: WebhookFlags) => {
    await (await load()).runResend(id, deliveryId, flags);
  });
}
