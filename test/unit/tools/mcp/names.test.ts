/** Names of listed tools: legal for every provider, and never one name for two tools. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromWireName,
  toolNameProblem,
  toWireName,
} from '../../../../src/protocol/values/tool-names.js';
import { digestedName, plainName, prefixedName } from '../../../../src/tools/mcp/names.js';

describe('the name of a listed tool', () => {
  it.each([
    ['search', 'github.search'],
    ['create_issue', 'github.create_issue'],
    ['repos.list', 'github.repos.list'],
    ['get-env', 'github.get-env'],
  ])('%s is kept behind its server’s', (tool, name) => {
    expect(prefixedName('github', tool)).toBe(name);
    expect(plainName('github', tool)).toBe(tool);
  });

  it.each(['a__b', '_a', 'a/b', 'a b', 'ünïcode', '', '…', 'x'.repeat(128), 'a.b.'])(
    '%j becomes a legal one with a digest',
    (tool) => {
      const name = prefixedName('github', tool);
      expect(toolNameProblem(name)).toBeUndefined();
      expect(name).toMatch(/^github\.(?:[A-Za-z0-9_-]+-)?[0-9a-f]{8}$/);
      expect(plainName('github', tool)).toBe(name);
    },
  );

  it('is legal, travels to a provider and back, and differs from that of any other tool', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 130 });
    const server = fc.stringMatching(/^[A-Za-z0-9-]{1,24}$/);
    fc.assert(
      fc.property(server, text, text, (of, one, other) => {
        const name = prefixedName(of, one);
        expect(toolNameProblem(name)).toBeUndefined();
        expect(fromWireName(toWireName(name))).toBe(name);
        if (one !== other) expect(prefixedName(of, other)).not.toBe(name);
        expect(toolNameProblem(digestedName(of, one))).toBeUndefined();
      }),
    );
  });
});
