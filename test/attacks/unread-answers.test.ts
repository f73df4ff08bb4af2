import { expect } from 'vitest';
import { onBothTransports } from './support/on-both-transports.ts';

const BUNDLE = '/docs/swagger-ui-bundle.js';

onBothTransports('3,000 HEADs of the docs bundle leave the workers alive and under 250 MB', {}, async (server) => {
  const connections = Array.from({ length: 30 }, () => server.connect());
  for (let round = 1; round <= 100; round += 1) {
    for (const connection of connections) connection.write(`HEAD ${BUNDLE} HTTP/1.1\r\nHost: x\r\n\r\n`);
    for (const connection of connections) await connection.until(() => connection.answers(false).length === round);
  }
  expect(server.peakMemory).toBeLessThan(250);
});
