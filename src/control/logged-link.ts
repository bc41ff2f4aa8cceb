import { visibleJson, visibleText } from '../base/text/display-text.ts';
import { redactedJson } from '../base/text/redact.ts';
import type { Frame } from '../protocol/control-frame.ts';
import type { AgentLink } from './link.ts';

/** The same link with every frame printed, secrets masked and invisible characters escaped: `>` is what we send, `<` what the agent sends. */
export function logFrames(link: AgentLink, print: (line: string) => void): AgentLink {
  async function* frames(): AsyncGenerator<Frame> {
    try {
      for await (const frame of link.frames) {
        print(`< ${shown(frame)}`);
        yield frame;
      }
      print('< end');
    } catch (cause) {
      print(`< ${visibleText(String(cause))}`);
      throw cause;
    }
  }
  return {
    frames: frames(),
    send(frame) {
      const sent = link.send(frame);
      print(`> ${shown(frame)}`);
      return sent;
    },
    post(frame) {
      if (link.post) link.post(frame);
      else link.send(frame).catch(() => {});
      print(`> ${shown(frame)}`);
    },
    room: () => link.room?.(),
    hold: (until) => link.hold?.(until),
    end() {
      print('> end');
      link.end();
    },
    close: () => link.close(),
  };
}

/** Text of servers and models must not control the terminal. */
function shown(frame: Frame): string {
  return visibleJson(redactedJson(frame));
}
