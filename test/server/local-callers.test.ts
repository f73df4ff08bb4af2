import { afterEach, describe, expect, it } from 'vitest';
import {
  addressOf,
  isForwardingHeader,
  isLoopbackHost,
  isLoopbackOrigin,
  networkOf,
} from '../../src/server/http/local-caller.ts';
import { RawConnection } from './support/raw-connection.ts';
import { startServer, type TestServer } from './support/test-server.ts';
import { TRANSPORTS } from './support/transports.ts';

/** Headers that proxies, balancers and content networks add, each enough to end the trust in a local caller. */
const FORWARDING = `
  forwarded forwarded-for via x-forwarded x-forwarded-for x-forwarded-host x-forwarded-proto
  x-forwarded-server x-forwarded-client-cert x-forwarder-for x-original-forwarded-for x-original-host
  x-original-url x-originating-ip x-real-ip x-real-port-and-ip x-client-ip client-ip x_client_ip
  true-client-ip x-cluster-client-ip cf-connecting-ip cf-connecting-ipv6 cf-pseudo-ipv4 cf-ray cf-visitor
  cdn-loop fastly-client-ip fastly-ssl fly-client-ip fly-forwarded-port x-azure-clientip x-azure-socketip
  x-azure-ref x-appengine-user-ip x-envoy-external-address x-envoy-original-path x-remote-ip x-remote-addr
  remote-addr x-proxyuser-ip wl-proxy-client-ip proxy-client-ip x-arr-log-id x-amzn-trace-id
  cloudfront-viewer-address x-vercel-ip-country x-nf-client-connection-ip incap-client-ip x-sucuri-clientip
  akamai-origin-hop x-varnish x-scheme x-host front-end-https tailscale-user-login x-peer-address
  ali-cdn-real-ip`
  .trim()
  .split(/\s+/u);

/** Headers of browsers, SDKs and tracing, which callers send without a proxy. */
const ORDINARY = `
  accept accept-language user-agent referer cookie priority dnt sec-fetch-site sec-ch-ua traceparent
  tracestate baggage x-client-version x-client-id x-api-version x-request-start x-stainless-os x-b3-traceid
  idempotency-key x-csrf-token x-relationship pragma x-source`
  .trim()
  .split(/\s+/u);

it.each(FORWARDING)('"%s" is the header of a proxy', (name) => {
  expect(isForwardingHeader(name)).toBe(true);
});

it.each(ORDINARY)('"%s" is not the header of a proxy', (name) => {
  expect(isForwardingHeader(name)).toBe(false);
});

it('loopback hosts are localhost, names below it, 127.0.0.0/8 and [::1]', () => {
  const loopback = ['localhost', 'LOCALHOST:2024', 'app.localhost', '127.0.0.1', '127.9.8.7:80', '[::1]', '[::1]:2024'];
  for (const host of loopback) expect(isLoopbackHost(host), host).toBe(true);
  const foreign = ['', 'attacker.example', 'localhost.attacker.example', '127.0.0.1.nip.io', '127.0.0.256', '127.1'];
  const odd = [
    '2130706433',
    '0.0.0.0',
    '[::]',
    '::1',
    'localhost:',
    'localhost:1:2',
    'localhost@evil',
    '10.0.0.1',
    ' ',
  ];
  for (const host of [...foreign, ...odd]) expect(isLoopbackHost(host), host).toBe(false);
});

it('the host decides whether an origin is loopback, and "null" is not', () => {
  for (const origin of ['http://localhost:3000', 'https://[::1]', 'http://127.0.0.1']) {
    expect(isLoopbackOrigin(origin), origin).toBe(true);
  }
  for (const origin of ['null', '', 'http://attacker.example', 'file://', 'http://localhost:1/x', 'localhost']) {
    expect(isLoopbackOrigin(origin), origin).toBe(false);
  }
});

it('an address has one form, and an IPv6 caller is its /64', () => {
  expect(addressOf('10.0.0.1')).toBe('10.0.0.1');
  expect(addressOf('::ffff:10.0.0.1')).toBe('10.0.0.1');
  expect(addressOf('0000:0000:0000:0000:0000:ffff:7f00:0001')).toBe('127.0.0.1');
  expect(addressOf('::1')).toBe('0:0:0:0:0:0:0:1');
  expect(addressOf('fe80::1%eth0')).toBe('fe80:0:0:0:0:0:0:1');
  expect(networkOf(addressOf('2001:DB8::1:2:3'))).toBe(networkOf(addressOf('2001:db8:0:0:ffff::')));
  expect(networkOf(addressOf('2001:db8:0:1::1'))).not.toBe(networkOf(addressOf('2001:db8::1')));
});

let server: TestServer | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

describe.each(TRANSPORTS)('the %s transport', (name) => {
  /** Whether a call with these header lines counts as one of a trusted local caller. */
  async function isLocal(trustLoopback: boolean, ...lines: readonly string[]): Promise<boolean | undefined> {
    server ??= await startServer(name, { trustLoopback });
    const connection = new RawConnection(server.port);
    const head = ['POST /call/Greet HTTP/1.1', ...lines, 'content-type: application/json', 'content-length: 2'];
    connection.write(`${head.join('\r\n')}\r\n\r\n{}`);
    expect((await connection.answer()).status).toBe(200);
    connection.end();
    return server.runtime.locals.at(-1);
  }

  it('trusts no local caller by default', async () => {
    expect(await isLocal(false, 'host: localhost:2024')).toBe(false);
    expect(await isLocal(false, 'host: 127.0.0.1')).toBe(false);
  });

  it('trusts a local caller with --trust-loopback', async () => {
    expect(await isLocal(true, 'host: localhost:2024')).toBe(true);
    expect(await isLocal(true, 'host: 127.0.0.1')).toBe(true);
    expect(await isLocal(true, 'host: [::1]:2024', 'origin: http://localhost:3000')).toBe(true);
  });

  it('does not trust a page whose name an attacker made resolve to this machine', async () => {
    expect(await isLocal(true, 'host: attacker.example', 'origin: http://attacker.example')).toBe(false);
    expect(await isLocal(true, 'host: attacker.example')).toBe(false);
    expect(await isLocal(true, 'host: localhost', 'origin: http://attacker.example')).toBe(false);
    expect(await isLocal(true, 'host: localhost', 'origin: null')).toBe(false);
    expect(await isLocal(true, 'host: localhost', 'origin: http://localhost', 'origin: http://attacker.example')).toBe(
      false,
    );
  });

  it('does not trust a request that a proxy forwards, whatever the vendor of its header', async () => {
    for (const header of FORWARDING) {
      expect(await isLocal(true, 'host: localhost', `${header}: 8.8.8.8`), header).toBe(false);
    }
  });
});

it('does not trust HTTP/1.0, over which nginx forwards without a header of its own', async () => {
  server = await startServer('node', { trustLoopback: true });
  const connection = new RawConnection(server.port);
  connection.write(
    'POST /call/Greet HTTP/1.0\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  );
  expect((await connection.answer()).status).toBe(200);
  expect(server.runtime.locals).toEqual([false]);
  connection.end();
});
