/** `defineSkill` and `skills`: sets of tools and instructions that the model activates when it needs them. */
import { isRecord } from '../protocol/values/json.js';
import { toolNameProblem } from '../protocol/values/tool-names.js';
import { checkKeys, ProblemList, shown, type Untyped } from './checks/problems.js';
import { definePlugin } from './define-plugin.js';
import { defineTool } from './define-tool.js';
import type { Plugin, PrepareContext } from './plugin/types.js';
import { jsonSchema } from './schemas/schema.js';
import type { UntypedServices } from './tool/context.js';
import type { Tool } from './tool/types.js';

export interface SkillSpec<Services> {
  /** Names the skill for the model and in the state, so it never changes. Formed like the name of a tool. */
  readonly name: string;
  /** The purpose of the skill; all that the model knows of a skill that is not active. */
  readonly description: string;
  /** Read by the model while the skill is active. */
  readonly instructions: string;
  /** Offered while the skill is active. */
  readonly tools?: readonly Tool<Services>[];
}

/** A skill as the engine knows it; made by `defineSkill` only. */
export interface Skill<Services = UntypedServices> extends Required<SkillSpec<Services>> {
  readonly kind: 'skill';
}

/** The active skills by name. */
export type ActiveSkills = Readonly<Record<string, true>>;

const FIELDS = ['name', 'description', 'instructions', 'tools'];

/**
 * Declares a skill.
 * @throws {DefinitionError} invalid_definition with every broken rule of the definition.
 */
export function defineSkill<Services = UntypedServices>(
  spec: SkillSpec<Services>,
): Skill<Services> {
  const problems = new ProblemList();
  const given: unknown = spec;
  if (isRecord(given)) checkSkill(given, problems);
  else problems.add('', `must be an object, got ${shown(given)}`);
  problems.throwIfAny(isRecord(given) ? `skill ${shown(given['name'])}` : 'a skill');
  const { name, description, instructions, tools = [] } = spec;
  return Object.freeze({ kind: 'skill', name, description, instructions, tools: [...tools] });
}

/**
 * A plugin by which the model activates and deactivates skills (`skills.activate`, `skills.deactivate`). A change takes
 * effect with the next step. Calls that wait stay as they are when their skill is deactivated.
 * @throws {DefinitionError} invalid_definition when a value is no skill, or two share a name.
 */
export function skills<Services = UntypedServices>(
  list: readonly Skill<Services>[],
  { id = 'skills' }: { readonly id?: string } = {},
): Plugin<Services, ActiveSkills> {
  checkSkills(list);
  return definePlugin<Services, typeof STATE>({
    id,
    state: STATE,
    prepare: (ctx) => {
      offer(list, ctx, id);
    },
    tools: (self) => [
      ...new Set(list.flatMap(({ tools }) => tools)),
      defineTool({
        name: `${id}.activate`,
        description: `Activates a skill: its instructions and tools are there from the next step on.\n${describe(list)}`,
        input: inputOf(list),
        effects: 'idempotent',
        run: ({ skill }, ctx) => {
          ctx.patchState(self, { op: 'set', path: `/${skill}`, value: true });
          const tools = list.find(({ name }) => name === skill)?.tools ?? [];
          return { activated: skill, tools: tools.map(({ name }) => name) };
        },
      }),
      defineTool({
        name: `${id}.deactivate`,
        description:
          'Deactivates a skill: its instructions and tools are gone from the next step on.',
        input: inputOf(list),
        effects: 'idempotent',
        run: ({ skill }, ctx) => {
          if (Object.hasOwn(ctx.getState(self), skill))
            ctx.patchState(self, { op: 'remove', path: `/${skill}` });
          return { deactivated: skill };
        },
      }),
    ],
  });
}

const STATE = jsonSchema<ActiveSkills>({
  type: 'object',
  additionalProperties: { const: true },
});

function inputOf(list: readonly Skill<never>[]) {
  return jsonSchema<{ readonly skill: string }>({
    type: 'object',
    properties: { skill: { type: 'string', enum: list.map(({ name }) => name) } },
    required: ['skill'],
    additionalProperties: false,
  });
}

function describe(list: readonly Skill<never>[]): string {
  return list.map(({ name, description }) => `- ${name}: ${description}`).join('\n');
}

/** A skill that is active and no longer defined is ignored. */
function offer<Services>(
  list: readonly Skill<Services>[],
  { state, tools, context }: PrepareContext<Services>,
  id: string,
): void {
  const active = state.getState(id);
  const isActive = ({ name }: Skill<Services>): boolean =>
    isRecord(active) && Object.hasOwn(active, name);
  const offered = new Set(list.filter(isActive).flatMap((skill) => skill.tools));
  for (const tool of new Set(list.flatMap((skill) => skill.tools)))
    if (!offered.has(tool)) tools.hide(tool.name);
  if (list.every(isActive)) tools.hide(`${id}.activate`);
  if (!list.some(isActive)) tools.hide(`${id}.deactivate`);
  for (const { name, instructions } of list.filter(isActive))
    context.add(`Skill "${name}" is active:\n${instructions}`);
}

function checkSkill(spec: Untyped, problems: ProblemList): void {
  checkKeys(problems, spec, { prefix: '', allowed: FIELDS });
  problems.addIf('name', toolNameProblem(spec['name']));
  for (const field of ['description', 'instructions'] as const) {
    const text = spec[field];
    if (typeof text !== 'string' || text.trim() === '')
      problems.add(field, 'must be a non-empty text');
  }
  const { tools } = spec;
  if (tools === undefined) return;
  if (!Array.isArray(tools)) problems.add('tools', `must be a list of tools, got ${shown(tools)}`);
  else
    for (const [index, tool] of (tools as readonly unknown[]).entries())
      if (!isRecord(tool) || tool['kind'] !== 'tool')
        problems.add(`tools[${index}]`, 'must come from defineTool');
}

function checkSkills(list: unknown): void {
  const problems = new ProblemList();
  if (!Array.isArray(list) || list.length === 0)
    problems.add('skills', `must be a list of one skill or more, got ${shown(list)}`);
  const names = new Set<unknown>();
  for (const [index, skill] of (Array.isArray(list)
    ? (list as readonly unknown[])
    : []
  ).entries()) {
    if (!isRecord(skill) || skill['kind'] !== 'skill')
      problems.add(`skills[${index}]`, 'must come from defineSkill');
    else if (names.has(skill['name']))
      problems.add(`skills[${index}]`, `duplicate name ${shown(skill['name'])}`);
    else names.add(skill['name']);
  }
  problems.throwIfAny('a list of skills');
}
