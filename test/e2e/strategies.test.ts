import { expect, test } from 'vitest';
import { reply } from '../support/fake-provider.ts';
import { serveModel } from '../support/served-model.ts';

function client(name: string): string {
  return `client<llm> ${name} {\n  provider openai-generic\n  options {\n    model ${name}\n    base_url env.PROVIDER_URL\n  }\n}\n`;
}

const FILES = {
  'strategies.svc': `
client<llm> Turns {
  provider round-robin
  options {
    strategy [A, B, C]
    start 1
  }
}
client<llm> Weighted {
  provider baml-round-robin
  options {
    strategy [A, B]
    weights {
      A 95
      B 5
    }
  }
}
${['A', 'B', 'C'].map(client).join('')}
function Turn() -> string {
  client Turns
  prompt #"x"#
}
function Share() -> string {
  client Weighted
  prompt #"x"#
}`,
};

const { fake, post, metric } = await serveModel({ files: FILES, flags: ['--workers', '3'], answer: reply('fine') });

/** Any worker can receive it, because each call has a connection of its own. */
async function turn(name: string, options: object = {}): Promise<void> {
  expect((await post(`call/${name}`, options)).status).toBe(200);
}

function models(): string {
  return fake.requests.map((request) => (request.json as { readonly model?: string }).model).join('');
}

test('round-robin has one order over all workers', async () => {
  for (let at = 0; at < 24; at += 1) await turn('Turn');
  expect(models()).toBe('BCA'.repeat(8));
  // Each worker has connections of its own to the provider.
  expect(fake.openSockets).toBeGreaterThan(1);
});

test('concurrent calls share the turns evenly', async () => {
  await Promise.all(Array.from({ length: 60 }, () => turn('Turn')));
  for (const model of ['A', 'B', 'C']) expect(models().split(model)).toHaveLength(21);
});

test('weights hold over all workers, and the metrics count each member', async () => {
  await Promise.all(Array.from({ length: 100 }, () => turn('Share')));
  expect(models().split('A')).toHaveLength(96);
  expect(models().split('B')).toHaveLength(6);
  expect(await metric('svc_attempts_total{client="B",outcome="ok"}')).toBeGreaterThanOrEqual(5);
  expect(await metric('svc_attempts_total{client="Weighted",outcome="ok"}')).toBe(0);
});

test('a route key selects the same member in all workers', async () => {
  for (const key of ['user-1', 'user-2', 'user-3']) {
    fake.clear();
    for (let at = 0; at < 12; at += 1) await turn('Turn', { svc_options: { route_key: key } });
    expect(new Set(models()).size).toBe(1);
    expect(models()).toHaveLength(12);
  }
});
