// An MCP server on stdio that does as little as possible: one read, one write.
import { answer, type Incoming } from './tiny-answers.ts';

let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  let answers = '';
  for (const line of lines) {
    const said = answer(JSON.parse(line) as Incoming);
    if (said !== undefined) answers += `${said}\n`;
  }
  if (answers !== '') process.stdout.write(answers);
});
process.stdin.on('end', () => process.exit(0));
