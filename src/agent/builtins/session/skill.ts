import { failedOutcome } from '../../loop/run-calls.ts';
import { defineBuiltIn } from '../built-in.ts';

/** Loads the instructions of a skill or a slash command. */
export const SKILL = defineBuiltIn({
  name: 'Skill',
  description:
    'Loads a skill: instructions for a kind of task, written by the user or the project. The available skills are listed in ' +
    'a reminder. When a task fits the description of a skill, use the skill before anything else. Its text follows the ' +
    'result of the call. Use only listed skills and those the user names; a name such as /commit in a message of the user is one.',
  annotations: { title: 'Skill', readOnlyHint: true },
  required: {
    skill: { type: 'string', minLength: 1, description: 'The name of the skill, without a slash.' },
  },
  optional: { args: { type: 'string', description: 'Arguments for the skill.' } },
  doubt: ({ skill }, { skills }) => (typeof skill === 'string' ? skills?.doubt(skill) : undefined),
  async run({ skill, args = '' }, { services, toolUseId, isApproved = false }, signal) {
    if (!services.skills) return failedOutcome('Skill is not available in this session');
    return services.skills.use({ name: skill, args, toolUseId, isApproved }, signal);
  },
});
