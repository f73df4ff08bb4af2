import { expect, test } from 'vitest';
import { TRANSPORTS } from '../../server/support/transports.ts';
import { AttackedServer, type Setup } from './attacked-server.ts';

/**
 * Declares an attack on a new server, once for each transport. The name states the attack and what must hold. After the attack,
 * the workers must be the same processes as before and answer a plain GET.
 */
export function onBothTransports(
  name: string,
  setup: Setup,
  attack: (server: AttackedServer) => void | Promise<void>,
): void {
  test.each(TRANSPORTS)(`${name} (%s)`, async (transport) => {
    const server = await AttackedServer.start(transport, setup);
    try {
      await attack(server);
      expect(await server.harm()).toEqual([]);
    } finally {
      await server.end();
    }
  });
}
