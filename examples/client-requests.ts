// A tool that asks the user and the client's model.
import assert from 'node:assert/strict';
import { toolServer } from 'toolplane';
import { createHost } from 'toolplane/host';
import { z } from 'zod';

// #region requests
const travel = toolServer('travel').tool(
  'book_trip',
  'Book a trip',
  { city: z.string() },
  async ({ city }, { elicit, sample, clientCapabilities }) => {
    const { action, content } = await elicit({
      message: `When do you want to travel to ${city}?`,
      requestedSchema: { date: z.iso.date(), seats: z.int().min(1).max(9).default(1) },
    });
    if (action !== 'accept') return 'The user did not choose a date.';
    let note = '';
    if (clientCapabilities?.sampling) {
      const question = { type: 'text' as const, text: `Name one thing to see in ${city}.` };
      const { content: tip } = await sample({
        messages: [{ role: 'user', content: question }],
        maxTokens: 50,
      });
      if (tip.type === 'text') note = ` Tip: ${tip.text}`;
    }
    return `Booked ${content.seats} seats to ${city} for ${content.date}.${note}`;
  },
);
// #endregion

await using http = await travel.listen();
await using host = createHost({
  mcpServers: { travel: { type: 'http', url: http.url } },
  handlers: {
    elicitation: async () => ({ action: 'accept', content: { date: '2027-05-01' } }),
    sampling: async () => ({
      role: 'assistant',
      model: 'example',
      content: { type: 'text', text: 'the harbor' },
    }),
  },
});
const { content } = await host.callTool('travel', 'book_trip', { city: 'Bergen' });
console.log(content);
assert.deepEqual(content, [
  { type: 'text', text: 'Booked 1 seats to Bergen for 2027-05-01. Tip: the harbor' },
]);
