// A server that can be made to die: `toolplane serve` runs it.
import { toolServer } from 'toolplane';

export default toolServer('fragile')
  .tool('hello', 'Say hello', {}, () => 'hello again')
  .tool('crash', 'End this process in the middle of the call', {}, () => process.exit(3));
