import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertAsyncProperty } from '../../support/assert-property.ts';
import { recordCall, type RecordedCall, type SentCall } from '../../support/recorded-calls.ts';
import { compileText } from '../../support/test-runtime.ts';
import { ACCOUNT, AWS_KEYS, filesOf, scenario, SECRET_VARIABLES, secretOf, type Scenario } from './random-clients.ts';

/**
 * The law: no literal of the definition files and no value of the server's environment reaches an origin that the server's own
 * values do not give.
 */

const DEFAULT_ORIGINS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: 'https://api.openai.com',
  OPENROUTER_API_KEY: 'https://openrouter.ai',
  ANTHROPIC_API_KEY: 'https://api.anthropic.com',
  GOOGLE_API_KEY: 'https://generativelanguage.googleapis.com',
};

/** Origins of Amazon's and Google's own services: a provider's variables can go to each of them. */
const CLOUDS =
  /^https:\/\/(?:bedrock-runtime\.(?:us-east-1|eu-west-1)\.amazonaws\.com|aiplatform\.us\.rep\.googleapis\.com|[a-z0-9-]+-aiplatform\.googleapis\.com)$/u;

function originOf(url: string | undefined): string | undefined {
  return url === undefined ? undefined : new URL(url).origin;
}

/** The origins that each secret can reach. */
function allowedOrigins({ clients, env }: Scenario): ReadonlyMap<string, ReadonlySet<string | undefined>> {
  const allowed = new Map<string, Set<string | undefined>>();
  const allow = (secret: string, origin: string | undefined): void => {
    allowed.set(secret, (allowed.get(secret) ?? new Set()).add(origin));
  };
  for (const { literal, target: place, reads } of clients) {
    const own = originOf(place.url(env));
    if (literal !== undefined) allow(literal, own);
    for (const variable of reads) allow(secretOf(variable), own);
  }
  for (const variable of [...SECRET_VARIABLES, ACCOUNT]) allow(secretOf(variable), DEFAULT_ORIGINS[variable]);
  return allowed;
}

const TOKEN_SERVICE = 'https://oauth2.googleapis.com';

/** Secrets that can be part of an account of Google. */
const OF_ACCOUNTS = /^(?:literal-of-.|server-value-of-(?:K.|GOOGLE_APPLICATION_CREDENTIALS_CONTENT))$/u;

/** A provider's variables can reach all of its own services, and the account of a client the token service. */
function isCloudsOwn(secret: string, origin: string): boolean {
  const ofProvider = [...AWS_KEYS, ACCOUNT].some((variable) => secret === secretOf(variable));
  return (origin === TOKEN_SERVICE && OF_ACCOUNTS.test(secret)) || (ofProvider && CLOUDS.test(origin));
}

function isPrivate(origin: string): boolean {
  return /^http:\/\/(?:10\.0\.0\.5|127\.0\.0\.1|localhost)(?::|$)/u.test(origin);
}

/** A base URL of the files by the server's own values begins the URL of the request. */
function isDeclared({ origin, path }: SentCall, { clients, env }: Scenario): boolean {
  return clients.some(({ target: place }) => {
    const url = place.url(env);
    if (url === undefined || originOf(url) !== origin) return false;
    return path.startsWith(new URL(url).pathname.replace(/\/$/u, ''));
  });
}

function violationsOf(sent: SentCall, drawn: Scenario): readonly string[] {
  const { origin, path, text } = sent;
  const found: string[] = [];
  for (const [secret, origins] of allowedOrigins(drawn)) {
    const mayHave = origins.has(origin) || isCloudsOwn(secret, origin);
    if (text.includes(secret) && !mayHave) found.push(`${secret} reached ${origin}`);
  }
  const ownOrigins = drawn.clients.map(({ target: place }) => originOf(place.url(drawn.env)));
  if (drawn.policy !== 'open' && origin !== TOKEN_SERVICE && !ownOrigins.includes(origin)) {
    found.push(`with ${drawn.policy}, a call went to ${origin}`);
  }
  if (!drawn.allowPrivateUrls && isPrivate(origin) && !isDeclared(sent, drawn)) {
    found.push(`a remote caller reached ${origin}${path}`);
  }
  return found;
}

/** The coverage of the runs: a property that sends nothing proves nothing. */
const seen = { own: 0, moved: 0, literalsAtHome: 0, literalsKept: 0, refusedByPolicy: 0 };

function count({ sent, failures }: RecordedCall, drawn: Scenario): void {
  const literals = drawn.clients.flatMap(({ literal }) => literal ?? []);
  for (const call of sent) {
    seen[isDeclared(call, drawn) ? 'own' : 'moved'] += 1;
    if (literals.some((literal) => call.text.includes(literal))) seen.literalsAtHome += 1;
  }
  for (const { code, message } of failures) {
    if (code === 'missing_credential' && message.includes('as a literal')) seen.literalsKept += 1;
    if (code === 'invalid_options' && message.includes('--client-registry')) seen.refusedByPolicy += 1;
  }
}

test('no secret of the server reaches an origin that its own values do not give', async () => {
  await assertAsyncProperty(
    fc.asyncProperty(scenario, async (drawn) => {
      const { env, policy, allowPrivateUrls, options } = drawn;
      const program = compileText(filesOf(drawn));
      const recorded = await recordCall({ program, env, policy, allowPrivateUrls, options });
      count(recorded, drawn);
      expect(recorded.sent.flatMap((call) => violationsOf(call, drawn))).toEqual([]);
    }),
    { numRuns: 150 },
  );
  for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(5);
});
