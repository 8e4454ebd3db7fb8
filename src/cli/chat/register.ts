/** Adds the command `chat` to the program; loaded when it runs. */
import type { Command } from 'commander';
import { asPerson } from '../conversations/register.js';
import type { ChatFlags } from './chat-command.js';

export function addChatCommand(program: Command): void {
  asPerson(program, 'chat [id]', 'Talk to an agent in the terminal, and answer what waits')
    .option('--agent <name>', 'begins the conversation with this agent')
    .addHelpText(
      'after',
      '\n/help in the chat lists its words. The conversation goes on when the chat is left.\nExample: npx colloquy chat --agent support',
    )
    .action(async (id: string | undefined, flags: ChatFlags) => {
      const { runChat } = await import('./chat-command.js');
      await runChat(id, flags);
    });
}
