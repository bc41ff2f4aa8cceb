import { expect, test } from 'vitest';
import { repeatVariables } from '../../../../src/cli/mcp/add/variables.ts';

test.each<[string, string]>([
  ['x -e A=1 B=2 -- node y', 'x -e A=1 -e B=2 -- node y'],
  ['-e A=1 B=2 C=3 x node', '-e A=1 -e B=2 -e C=3 x node'],
  ['x --env A=1 B=2 -- node', 'x --env A=1 -e B=2 -- node'],
  ['x --env=A=1 B=2 -- node', 'x --env=A=1 -e B=2 -- node'],
  ['x -eA=1 B=2 -- node', 'x -eA=1 -e B=2 -- node'],
  ['x -e A=1 -e B=2 C=3 -- node', 'x -e A=1 -e B=2 -e C=3 -- node'],
  // The value is taken as it is, whatever it looks like.
  ['x -e -- B=2', 'x -e -- B=2'],
  ['x -e A=1 --force B=2 node', 'x -e A=1 --force B=2 node'],
  ['x -e A=1 node B=2', 'x -e A=1 node B=2'],
  ['x -e A=1 -- node -e B=2 C=3', 'x -e A=1 -- node -e B=2 C=3'],
  ['x -- node -e B=2 C=3', 'x -- node -e B=2 C=3'],
  ['x -e A=1 https://a.test/?b=2', 'x -e A=1 https://a.test/?b=2'],
])('%s is understood as %s', (line, meant) => {
  expect(repeatVariables(line.split(' '))).toEqual(meant.split(' '));
});
