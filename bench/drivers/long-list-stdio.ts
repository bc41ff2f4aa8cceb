// A server of 1,000 tools on stdio.
import { createInterface } from 'node:readline';
import { longList } from './long-list.ts';

const answer = longList();
createInterface(process.stdin)
  .on('line', (line) => {
    const said = answer(JSON.parse(line));
    if (said !== undefined) process.stdout.write(`${said}\n`);
  })
  .on('close', () => process.exit(0));
