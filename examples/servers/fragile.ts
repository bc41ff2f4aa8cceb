// A server with a tool that crashes it, for `toolplane serve`.
import { toolServer } from 'toolplane';

export default toolServer('fragile')
  .tool('hello', 'Say hello', {}, () => 'hello again')
  .tool('crash', 'End this process in the middle of the call', {}, () => process.exit(3));
