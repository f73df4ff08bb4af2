// Compiles the programs with which a new worker warms up, one for each wire format, and writes them to dist/assets/warm-up: functions,
// argument validators, calls, and the answers of the model. Run it after tsc; another run gives the same result.
import { mkdirSync, writeFileSync } from 'node:fs';
import { compile } from '../dist/src/compiler/compile.js';
import { ValidatorCompiler } from '../dist/src/compiler/3-emit/validator-compiler.js';
import { SourceFile } from '../dist/src/diagnostics/source-file.js';

const FOLDER = new URL('../dist/assets/warm-up/', import.meta.url);

const CLASSES = `
enum Topic {
  SALES
  SUPPORT
  OTHER @description("anything else")
}
class Contact {
  name string
  email string?
  topic Topic
  urgent bool
  score float
  tags string[]
  summary string @description("one sentence")
}
class Point {
  x int
  y float
}
retry_policy Twice {
  max_retries 1
}
class Turn {
  role string
  content string
}
`;

const CONTACT = JSON.stringify({
  name: 'Ada Lovelace',
  email: 'ada@example.com',
  topic: 'SUPPORT',
  urgent: true,
  score: 0.75,
  tags: ['engine', 'notes'],
  summary: 'She asks for the notes on the engine, with "all" tables.',
});

const PROMPTS = [
  `
    {{ _.role("system") }}
    Read the contact.
    {{ ctx.output_format }}

    {{ _.role("user") }}
    {{ text }}
    {% for turn in turns %}
      {{ turn.role }}: {{ turn.content }}
    {% endfor %}
  `,
  `
    {{ _.role("system") }}
    Read the message.
    {{ ctx.output_format }}
    {{ _.role("user") }}
  `,
  'Write it. {% if ctx.output_format %}{{ ctx.output_format }}{% endif %}',
];

const ARGUMENTS = JSON.stringify({
  text: 'Please send me all the notes on the engine. Ada Lovelace, ada@example.com',
  turns: [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: 'How can I help?' },
  ],
});

/** What a model writes around its JSON. */
const REPLIES = [
  CONTACT,
  `Here it is:\n\`\`\`json\n${CONTACT}\n\`\`\``,
  CONTACT.replace('"name"', 'name').replace('}', ',}'),
];

/** Providers differ in the headers that they send, and in their case. */
const HEADS = [
  { 'content-type': '$type' },
  { Date: 'Thu, 01 Jan 2026 00:00:00 GMT', 'Content-Type': '$type', 'X-Request-Id': 'warm-up' },
  {
    'Content-Type': '$type; charset=utf-8',
    Server: 'warm-up',
    'x-ratelimit-remaining-requests': '10',
    'openai-processing-ms': '1',
    Vary: 'Origin',
  },
];

/** The wire formats: a reply, and the events of a stream of it in parts. */
const FORMATS = {
  'openai-generic': {
    reply: (text) => ({
      id: 'warm-up',
      object: 'chat.completion',
      created: 0,
      model: 'warm-up',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 },
    }),
    events: (parts) =>
      [
        { delta: { role: 'assistant', content: '' }, finish_reason: null },
        ...parts.map((content) => ({ delta: { content }, finish_reason: null })),
        { delta: {}, finish_reason: 'stop' },
      ].map((choice) => ({
        id: 'warm-up',
        object: 'chat.completion.chunk',
        created: 0,
        model: 'warm-up',
        choices: [{ index: 0, ...choice }],
      })),
    last: 'data: [DONE]\n\n',
  },
  'openai-responses': {
    reply: (text) => response(text, 'completed'),
    events: (parts) => [
      { type: 'response.created', response: response('', 'in_progress') },
      ...parts.map((delta) => ({ type: 'response.output_text.delta', output_index: 0, content_index: 0, delta })),
      { type: 'response.completed', response: response(parts.join(''), 'completed') },
    ],
  },
  anthropic: {
    reply: (text) => message([{ type: 'text', text }], 'end_turn'),
    events: (parts) => [
      { type: 'message_start', message: message([], null) },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...parts.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 40 } },
      { type: 'message_stop' },
    ],
  },
  'google-ai': {
    reply: (text) => candidate(text, 'STOP'),
    events: (parts) => parts.map((text, index) => candidate(text, index === parts.length - 1 ? 'STOP' : undefined)),
  },
};

function response(text, status) {
  const content = [{ type: 'output_text', text, annotations: [] }];
  const output = text === '' ? [] : [{ type: 'message', id: 'warm-up', status, role: 'assistant', content }];
  const usage = status === 'completed' ? { input_tokens: 60, output_tokens: 40, total_tokens: 100 } : null;
  return { id: 'warm-up', object: 'response', created_at: 0, status, model: 'warm-up', output, usage };
}

function message(content, reason) {
  const usage = { input_tokens: 60, output_tokens: 40 };
  return { id: 'warm-up', type: 'message', role: 'assistant', model: 'warm-up', content, stop_reason: reason, usage };
}

function candidate(text, finishReason) {
  return {
    candidates: [{ content: { parts: [{ text }], role: 'model' }, finishReason, index: 0 }],
    usageMetadata: { promptTokenCount: 60, candidatesTokenCount: 40, totalTokenCount: 100 },
    modelVersion: 'warm-up',
  };
}

function answerOf({ reply, events, last = '' }, route, text, index) {
  const type = route === 'call' ? 'application/json' : 'text/event-stream';
  const headers = Object.entries(HEADS[index % HEADS.length]).map(([name, value]) => [
    name,
    value.replace('$type', type),
  ]);
  if (route === 'call') return { headers, body: JSON.stringify(reply(text)) };
  const data = events(text.match(/[^]{1,24}/gu)).map(
    (event) => `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`,
  );
  return { headers, body: data.join('') + last };
}

/** Functions of different kinds, so that V8 does not compile code for one kind alone. */
const FUNCTIONS = [
  { parameters: 'text: string, turns: Turn[]', returns: 'Contact', body: ARGUMENTS },
  {
    parameters: 'text: string',
    returns: 'Contact',
    body: JSON.stringify({ text: 'Notes on the engine, please. Ada, ada@example.com' }),
  },
  {
    parameters: 'text: string, limit: int?',
    returns: 'Point[]',
    body: JSON.stringify({ text: 'Two points.\nTen words at most.', limit: 2 }),
    reply: '[{"x": 1, "y": 2.5}, {"x": -3, "y": 0}]',
  },
  {
    parameters: 'contact: Contact, language: string',
    returns: 'string',
    body: JSON.stringify({ contact: JSON.parse(CONTACT), language: 'English' }),
    reply: 'Dear Ada, here are the notes.',
  },
  {
    parameters: 'topics: Topic[]',
    returns: 'Topic',
    body: JSON.stringify({ topics: ['SALES', 'OTHER'] }),
    reply: 'SALES',
  },
];

/** Most calls have a clean reply and are no streams, so most of the time goes to them. */
const CALLS = [
  { times: 5, route: 'call', kind: 0, text: REPLIES[0] },
  { times: 5, route: 'call', kind: 1, text: REPLIES[0] },
  { times: 1, route: 'call', kind: 0, text: REPLIES[1] },
  { times: 1, route: 'call', kind: 1, text: REPLIES[2] },
  { times: 2, route: 'call', kind: 2 },
  { times: 1, route: 'call', kind: 3 },
  { times: 1, route: 'call', kind: 4 },
  { times: 2, route: 'stream', kind: 0, text: REPLIES[0] },
  { times: 1, route: 'stream', kind: 1, text: REPLIES[1] },
  { times: 1, route: 'stream', kind: 3 },
].map((call) => ({ ...call, ...FUNCTIONS[call.kind], text: call.text ?? FUNCTIONS[call.kind].reply }));

mkdirSync(FOLDER, { recursive: true });
for (const [provider, format] of Object.entries(FORMATS)) {
  const functions = CALLS.map(
    ({ parameters, returns }, index) => `client<llm> Model${index} {
  provider ${provider}
${index % 2 === 0 ? '  retry_policy Twice\n' : ''}  options {
    model "warm-up"
    base_url env.WARM_UP_MODEL_${index}
    api_key "warm-up"
    http { version env.WARM_UP_HTTP }
${index % 3 === 0 && provider.startsWith('openai') ? '    temperature 0.5\n' : ''}  }
}
function Read${index}(${parameters}) -> ${returns} {
  client Model${index}
  prompt #"${PROMPTS[parameters.includes('turns') ? 0 : parameters.includes('text') ? 1 : 2]}
${[...parameters.matchAll(/(\w+):/g)].map(([, name]) => (name === 'turns' ? '' : `{{ ${name} }}`)).join(' ')}"#
}
`,
  );
  const source = new SourceFile('warm-up.baml', CLASSES + functions.join(''));
  const { diagnostics, program } = compile([source], {
    version: '0.1.0',
    versionCheck: false,
    beta: false,
    apiKey: false,
  });
  if (program === undefined) throw new Error(diagnostics.map((each) => each.message).join('\n'));
  const compiler = new ValidatorCompiler(program);
  const warmUp = {
    program: { ...program, openapi: '{}' },
    validators: Object.fromEntries(program.functions.map(({ name }) => [name, compiler.source(name)])),
    replies: CALLS.map(({ route, text }, index) => answerOf(format, route, text, index)),
    calls: CALLS.flatMap(({ times, route, body }, index) =>
      Array.from({ length: times }, () => ({ path: `/${route}/Read${index}`, body })),
    ),
  };
  writeFileSync(new URL(`${provider}.json`, FOLDER), JSON.stringify(warmUp));
}
