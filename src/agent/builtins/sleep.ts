import { startTimer } from '../../base/async/timers.ts';
import { defineBuiltIn } from './built-in.ts';

export const SLEEP = defineBuiltIn({
  name: 'Sleep',
  description:
    'Waits for a period of time. Ends after the given time, or at once when an event arrives, which it then reports. Better ' +
    'than sleep in Bash, which no event ends.',
  annotations: { title: 'Wait', readOnlyHint: true },
  required: {
    seconds: { type: 'number', minimum: 0, maximum: 86_400, description: 'The longest time to wait.' },
  },
  optional: { reason: { type: 'string', description: 'What is waited for, for whoever watches.' } },
  async run({ seconds }, { wake }, signal) {
    const elapsed = new AbortController();
    // Not AbortSignal.timeout: its timer would not keep a process alive that has nothing else to do.
    const timer = startTimer(seconds * 1000, () => elapsed.abort());
    try {
      const events = await wake.wait(AbortSignal.any([signal, elapsed.signal]));
      if (signal.aborted) wake.giveBack(events);
      signal.throwIfAborted();
      const text = events.map((event) => `Woken by ${event.source}: ${event.text}`).join('\n');
      return { content: text || `Slept ${seconds} seconds; nothing happened`, isError: false };
    } finally {
      clearTimeout(timer);
    }
  },
});
