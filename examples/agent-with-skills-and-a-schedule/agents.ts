import { defineAgent, defineSkill, defineTool, skills, triggerTools } from 'colloquy';
import { calls, says, scriptedBy } from 'colloquy/testing';
import { z } from 'zod';

const findInvoice = defineTool({
  name: 'invoices.find',
  description: 'Finds the invoices that are not paid.',
  input: z.object({}),
  effects: 'none',
  run: () => ({ unpaid: ['i_7'] }),
});

const invoices = defineSkill({
  name: 'invoices',
  description: 'Finding, explaining and correcting invoices.',
  instructions: 'Look an invoice up before you explain it.',
  tools: [findInvoice],
});

const shipping = defineSkill({
  name: 'shipping',
  description: 'Following parcels.',
  instructions: 'Parcels are followed by their number.',
  tools: [],
});

export const clerk = defineAgent({
  name: 'clerk',
  instructions: 'You do the books.',
  // The model first knows the skills by their descriptions; the tools of a skill come with its activation.
  model: scriptedBy(({ messages, tools }) => {
    const offered = tools.map(({ name }) => name);
    // The last of the messages is the instructions of the skills that are active.
    const read = messages.filter(({ id }) => !id.endsWith('.context'));
    const last = JSON.stringify(read.at(-1)).replaceAll('\\', '');
    if (last.includes('Remind me')) return calls('skills.activate', { skill: 'invoices' });
    if (last.includes('nextAt')) return says('I will remind you.');
    if (last.includes('"goal"') && offered.includes('invoices.find'))
      return calls('invoices.find', {});
    if (last.includes('unpaid')) return says('One invoice is not paid: i_7.');
    if (!offered.includes('invoices.find')) return says('I do not know how.');
    const value = new Date(Date.now() + 3_000).toISOString();
    return calls('trigger.create', {
      title: 'Invoices',
      goal: 'Look for invoices that are not paid.',
      schedule: { type: 'once', value },
    });
  }),
  plugins: [skills([invoices, shipping])],
  tools: [...triggerTools()],
});
