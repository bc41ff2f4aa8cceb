// npm run fuzz: runs random shell commands that the permission rules allow. `-- --count 50000 --seed 1 --json`.
import { parseArgs } from 'node:util';
import { fuzzBash } from '../test/permissions/commands/bash-fuzz.ts';

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '50000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    json: { type: 'boolean', default: false },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!Number.isSafeInteger(count) || count < 1 || !Number.isSafeInteger(seed)) {
  console.error('usage: npm run fuzz -- [--count N] [--seed N] [--json]');
  process.exit(2);
}

const report = await fuzzBash({
  count,
  seed,
  onProgress: (done) => {
    if (done % 5000 === 0) console.error(`${done} of ${count} commands`);
  },
});
const isClean = report.breaches.length === 0;
if (values.json) {
  const note = `seed ${seed}: ${report.commands} commands, ${report.executed} executed`;
  const breaches = report.breaches.map(({ rules, command, evidence }) => ({
    name: `${rules} rules: ${JSON.stringify(command)}`,
    pass: false,
    note: evidence,
  }));
  console.log(JSON.stringify([{ name: 'bash permission rules', pass: isClean, note }, ...breaches], null, 2));
} else {
  for (const { rules, command, evidence } of report.breaches) {
    console.log(`✗ ${rules} rules allowed ${JSON.stringify(command)}: ${evidence}`);
  }
  console.log(
    `seed ${seed}: ${report.commands} commands, ${report.executed} executed, ${report.breaches.length} breaches`,
  );
}
process.exitCode = isClean ? 0 : 1;
