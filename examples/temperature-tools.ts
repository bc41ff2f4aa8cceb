// A module that exports a tool server, for `moduleServer()` and `toolplane serve`.
import { toolServer } from 'toolplane';
import { z } from 'zod';

// #region whole
export const temperature = toolServer('temperature').tool(
  'to_celsius',
  'Degrees Fahrenheit in Celsius',
  { fahrenheit: z.number() },
  ({ fahrenheit }) => ((fahrenheit - 32) * 5) / 9,
);
// #endregion
