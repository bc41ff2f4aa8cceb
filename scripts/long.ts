// npm run long: runs the tests that have a longer form in full. `-- test/mcp/auth` runs those of a folder or file.
import { globSync, readFileSync } from 'node:fs';
import { bin, ROOT, step } from './step.ts';

const places = process.argv.slice(2);
const files = globSync('test/**/*.test.ts', { cwd: ROOT }).filter(
  (file) =>
    readFileSync(`${ROOT}${file}`, 'utf8').includes('TOOLPLANE_LONG_TESTS') &&
    (places.length === 0 || places.some((place) => file.startsWith(place))),
);
if (files.length === 0) {
  console.error(`no test in ${places.join(', ')} has a longer form`);
  process.exit(2);
}
process.env.TOOLPLANE_LONG_TESTS = '1';
// One after the other: the tests kill processes at random moments, or measure time.
const isDone = step('long tests', bin('vitest'), ['run', '--no-file-parallelism', ...files]);
process.exitCode = isDone ? 0 : 1;
