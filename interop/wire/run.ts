import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Sdk } from './case.ts';
import { CASES } from './cases.ts';
import { differences } from './differences.ts';
import { record } from './record.ts';

const KEPT = ['PATH', 'LANG', 'TMPDIR'];
const OURS = fileURLToPath(new URL('../../src/entry/index.ts', import.meta.url));

// node run.ts [--list] [--only PART]…                what the official package sends, as JSON
// node run.ts --ours [--module FILE] [--only PART]…  where ours (or another module) differs from it
await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true },
      ours: { type: 'boolean' },
      module: { type: 'string', default: OURS },
      list: { type: 'boolean' },
    },
  });
  const cases = CASES.filter((it) => values.only?.some((part) => it.name.includes(part)) ?? true);
  if (values.list) return print(cases.map((it) => it.name));
  scrubEnvironment();
  const official: Sdk = await import('@anthropic-ai/claude-agent-sdk');
  scrubEnvironment();
  if (!values.ours) {
    const recordings: Record<string, unknown> = {};
    for (const it of cases) recordings[it.name] = await record(official, it);
    return print(recordings);
  }
  if (!existsSync(values.module)) throw new Error(`there is no ${values.module} to compare with`);
  const ours = (await import(pathToFileURL(resolve(values.module)).href)) as Sdk;
  scrubEnvironment();
  let different = 0;
  for (const it of cases) {
    const found = differences(await record(official, it), await record(ours, it));
    if (found.length > 0) different += 1;
    console.log(`${found.length === 0 ? 'same' : 'DIFFERENT'}  ${it.name}`);
    for (const line of found) console.log(`    ${line}`);
  }
  console.log(`${cases.length - different} of ${cases.length} cases are the same`);
  process.exit(different === 0 ? 0 : 1);
}

/** Both SDKs read `process.env` and one writes to it when imported; what they inherit must be the same. */
function scrubEnvironment(): void {
  for (const key of Object.keys(process.env)) if (!KEPT.includes(key)) delete process.env[key];
}

function print(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
