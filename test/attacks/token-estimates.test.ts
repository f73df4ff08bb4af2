import { hash } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { temporaryFolder } from '../support/running-server.ts';
import { RawConnection } from '../server/support/raw-connection.ts';
import { onBothTransports } from './support/on-both-transports.ts';

const FILES = {
  'main.svc': `
client<llm> Model {
  provider openai-generic
  options { base_url env.PROVIDER_URL }
}
function Look(text: string, picture: image?) -> string {
  client Model
  prompt #"{{ text }} {{ picture }}"#
}`,
};

const KEY = 'svc_team-a';
const LIMIT = 100_000;
const KEYS = { keys: [{ name: 'team-a', sha256: hash('sha256', KEY), limits: { tokens_per_minute: LIMIT } }] };
const flags = ['--keys', join(temporaryFolder({ 'keys.json': JSON.stringify(KEYS) }), 'keys.json')];

/** A PNG of 2,000 by 1,500 pixels and 1 MB. Only its header matters. */
function picture(): object {
  const bytes = Buffer.alloc(1_000_000, 7);
  bytes.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'latin1');
  bytes.writeUInt32BE(2_000, 16);
  bytes.writeUInt32BE(1_500, 20);
  return { base64: bytes.toString('base64'), media_type: 'image/png' };
}

/** About 1,000 tokens. */
const TEXT = 'The carrier collects the parcel before noon. '.repeat(111);

/** Sends a call on a connection of its own. */
function sendCall(port: number): RawConnection {
  const text = JSON.stringify({ text: TEXT });
  const head = ['host: localhost', 'content-type: application/json', `content-length: ${text.length}`];
  const connection = new RawConnection(port);
  connection.write(`POST /call/Look HTTP/1.1\r\n${head.join('\r\n')}\r\nx-svc-api-key: ${KEY}\r\n\r\n${text}`);
  return connection;
}

onBothTransports(
  'a picture counts as the provider counts it, and then lets no calls through the limit of tokens',
  { files: FILES, flags },
  async (server) => {
    server.model.answer(reply('seen', { usage: { prompt_tokens: 790, completion_tokens: 10 } }));
    const beganAt = performance.now();
    // As text, 1.3 MB are 325,000 tokens, more than the limit: each call would need all of it.
    for (let call = 0; call < 3; call += 1) {
      const { status } = await server.call(
        'Look',
        { text: 'What is it?', picture: picture() },
        { 'x-svc-api-key': KEY },
      );
      expect(status).toBe(200);
    }
    server.model.clear();
    server.model.answer(() => new Promise(() => undefined));
    const calls = Array.from({ length: 300 }, () => sendCall(server.port));
    const refused = () => calls.filter(({ received }) => received.length > 0).length;
    await calls[0]?.until(() => refused() + server.model.unanswered === calls.length);
    const left = LIMIT - 3 * 800;
    // The limit fills up again while the calls run, which takes seconds on a busy machine.
    const refilled = (LIMIT * (performance.now() - beganAt)) / 60_000;
    expect(server.model.unanswered).toBeLessThanOrEqual((left + refilled) / 1_000);
    expect(server.model.unanswered).toBeGreaterThanOrEqual(left / 1_300);
    for (const connection of calls) connection.end();
    await calls[0]?.until(() => server.model.openSockets === 0);
  },
);
