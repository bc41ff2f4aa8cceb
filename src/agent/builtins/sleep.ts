import { startTimer } from '../../base/async/timers.ts';
import { defineBuiltIn } from './built-in.ts';

export const SLEEP = defineBuiltIn({
  name: 'Sleep',
  description:
    'Waits for a period of time. Ends after the given time, or as soon as an event arrives, and reports the event. Use ' +
    'this instead of sleep in Bash, which events do not interrupt.',
  annotations: { title: 'Wait', readOnlyHint: true },
  required: {
    seconds: { type: 'number', minimum: 0, maximum: 86_400, description: 'The maximum time to wait.' },
  },
  optional: { reason: { type: 'string', description: 'What the wait is for, shown to the user.' } },
  async run({ seconds }, { wake }, signal) {
    const elapsed = new AbortController();
    // AbortSignal.timeout() would not keep the process alive.
    const timer = startTimer(seconds * 1000, () => elapsed.abort());
    try {
      const events = await wake.wait(AbortSignal.any([signal, elapsed.signal]));
      if (signal.aborted) wake.giveBack(events);
      signal.throwIfAborted();
      const text = events.map((event) => `Woken by ${event.source}: ${event.text}`).join('\n');
      return { content: text || `Slept ${seconds} seconds; no events`, isError: false };
    } finally {
      clearTimeout(timer);
    }
  },
});
