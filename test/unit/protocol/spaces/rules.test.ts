/** The rules for fields of spaces, members and messages. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  MAX_SPACE_MESSAGE_METADATA_BYTES,
  MAX_SPACE_TEXT_BYTES,
} from '../../../../src/protocol/limits/service-limits.js';
import {
  memberProblems,
  messageProblems,
  spaceProblems,
} from '../../../../src/protocol/spaces/rules.js';
import {
  agentMemberId,
  parseAgentMemberId,
  SPACE_MESSAGE_STATUSES,
} from '../../../../src/protocol/spaces/spaces.js';
import { idProblem } from '../../../../src/protocol/values/ids.js';
import { judgePut } from '../../../../src/store/plans/space-rows.js';
import type { PutMessage } from '../../../../src/store/ports/spaces/spaces.js';
import { promise } from '../../../support/promise.js';

const paths = (problems: readonly { readonly path: string }[]) => problems.map(({ path }) => path);
const TEXT = { id: 'm', kind: 'text', text: 'Hi' } as const;

it.each([
  [TEXT, []],
  [{ ...TEXT, text: 'x'.repeat(MAX_SPACE_TEXT_BYTES) }, []],
  [{ ...TEXT, text: `${'x'.repeat(MAX_SPACE_TEXT_BYTES - 1)}ö` }, ['/text']],
  [{ ...TEXT, text: '' }, ['/text']],
  [{ ...TEXT, kind: 'tool', text: '' }, []],
  [{ ...TEXT, text: '\ud800' }, ['/text']],
  [{ ...TEXT, id: 'a\0' }, ['/id']],
  [{ ...TEXT, replyTo: '' }, ['/replyTo']],
  [{ ...TEXT, kind: 'tool', replyTo: 'm' }, ['/replyTo']],
  [{ ...TEXT, metadata: [] }, ['/metadata']],
  [{ ...TEXT, metadata: { a: () => undefined } }, ['/metadata']],
  [{ ...TEXT, metadata: { a: 'x'.repeat(MAX_SPACE_MESSAGE_METADATA_BYTES) } }, ['/metadata']],
  [{ ...TEXT, metadata: { '\udc00': 1 } }, ['/metadata/\ufffd']],
] as const)('judges the message %#', promise('G365'), (message, expected) => {
  expect(paths(messageProblems(message))).toEqual(expected);
});

it.each([
  [{ kind: 'person', id: 'any text: ö/~' }, []],
  [{ kind: 'person', id: '' }, ['/id']],
  [{ kind: 'person', id: 'x'.repeat(201) }, ['/id']],
  [{ kind: 'agent', id: 'c-1~bot' }, []],
  [{ kind: 'agent', id: 'c-1' }, ['/id']],
  [{ kind: 'agent', id: `${'c'.repeat(128)}~${'b'.repeat(72)}` }, ['/id']],
  [{ kind: 'agent', id: 'c-1~bot~x' }, ['/id']],
  [{ kind: 'agent', id: 'c 1~bot' }, ['/id']],
  [{ kind: 'robot', id: 'x' }, ['/kind']],
  [{ kind: 'person', id: 'x', name: ' ' }, ['/name']],
])('judges the member %j', promise('G365'), (member, expected) => {
  expect(paths(memberProblems(member as Parameters<typeof memberProblems>[0]))).toEqual(expected);
});

it('never throws for fields of any type', () => {
  fc.assert(
    fc.property(fc.anything(), fc.anything(), (one, other) => {
      spaceProblems({ name: one as string, access: other, metadata: one });
      memberProblems({ kind: 'agent', id: one as string, name: other as string });
      memberProblems({ kind: one as 'agent', id: other as string });
      messageProblems({ ...TEXT, id: one as string, text: other as string, metadata: one });
    }),
  );
});

it('names an agent so that conversation and agent are read from the id again', () => {
  const part = fc
    .string({ maxLength: 130 })
    .map((text) => text.replaceAll(/[^A-Za-z0-9_.-]/g, '-'));
  fc.assert(
    fc.property(part, part, (conversationId, agent) => {
      const isValid = [conversationId, agent].every((id) => idProblem('id', id) === undefined);
      const entity = { conversationId, agent };
      expect(parseAgentMemberId(agentMemberId(entity))).toEqual(isValid ? entity : undefined);
    }),
  );
});

it(
  'no order of writes takes the end of a call back, and a repeat changes nothing',
  promise('G366'),
  () => {
    const write = fc.record({
      status: fc.constantFrom(...SPACE_MESSAGE_STATUSES),
      text: fc.constantFrom('', 'x'),
      metadata: fc.constantFrom(undefined, { a: 1 }, { a: 2 }),
    });
    const author = { kind: 'agent', id: 'c-1~bot' } as const;
    fc.assert(
      fc.property(fc.array(write, { minLength: 1, maxLength: 12 }), (writes) => {
        const base = {
          tenant: 't',
          spaceId: 's',
          id: 'm',
          author,
          kind: 'tool',
          nowMs: 1,
        } as const;
        const shown = { position: 1, createdAt: '', changedAt: '' };
        const put = (given: (typeof writes)[number]): PutMessage => ({ ...base, ...given });
        const messageOf = (given: PutMessage, change: number) => {
          const { metadata, replyTo: _none, ...rest } = given;
          return { ...rest, ...shown, change, ...(metadata === undefined ? {} : { metadata }) };
        };
        let stored = messageOf(put(writes[0]!), 1);
        for (const each of writes) {
          const given = put(each);
          const judged = judgePut(stored, given);
          expect(judged).not.toBe('reused');
          const hasEnded = stored.status === 'complete' || stored.status === 'error';
          if (judged === 'change') {
            expect(hasEnded).toBe(false);
            stored = messageOf(given, stored.change + 1);
          }
          expect(judgePut(stored, given)).toBe('repeat');
        }
      }),
    );
  },
);
