// The lower bound of a round trip: the stand-in CLI with a driver that splits lines and sends each one back unchanged.
// Each line on stdin is a list of steps as JSON, answered by a line with the report.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { STAND_IN_CLI } from './stand-in.ts';
import { type Step, stepsPrompt } from './steps.ts';

const child = spawn('node', [STAND_IN_CLI], { stdio: ['pipe', 'pipe', 'pipe'] });
createInterface(process.stdin)
  .on('line', (line) => {
    const content = stepsPrompt(JSON.parse(line) as Step[]);
    child.stdin.write(`${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`);
  })
  .on('close', () => child.stdin.end());

let rest = '';
child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
  const text = rest + chunk;
  let from = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
    take(text.slice(from, at));
    from = at + 1;
  }
  rest = text.slice(from);
});

function take(line: string): void {
  if (line.startsWith('{"type":"control_request"')) child.stdin.write(`${line}\n`);
  else if (line.startsWith('{"type":"result"')) report(line);
}

function report(line: string): void {
  console.log((JSON.parse(line) as { result: string }).result);
}
