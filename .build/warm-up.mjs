// Compiles the program with which a new worker warms up, and writes it to dist/assets/warm-up.json: functions, argument validators,
// calls, and the answers of the model. Run it after tsc; another run gives the same result.
import { writeFileSync } from 'node:fs';
import { compile } from '../dist/src/compiler/compile.js';
import { ValidatorCompiler } from '../dist/src/compiler/3-emit/validator-compiler.js';
import { SourceFile } from '../dist/src/diagnostics/source-file.js';

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
  'content-type: $type\r\ncontent-length: $length\r\n',
  'Date: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: $type\r\nContent-Length: $length\r\nConnection: keep-alive\r\nX-Request-Id: warm-up\r\n',
  'Content-Type: $type; charset=utf-8\r\nServer: warm-up\r\nx-ratelimit-remaining-requests: 10\r\nopenai-processing-ms: 1\r\nContent-Length: $length\r\nVary: Origin\r\n',
];

let answers = 0;

function response(type, body) {
  const head = HEADS[(answers += 1) % HEADS.length].replace('$type', type).replace('$length', Buffer.byteLength(body));
  return `HTTP/1.1 200 OK\r\n${head}\r\n${body}`;
}

function completion(text) {
  const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }];
  const usage = { prompt_tokens: 60, completion_tokens: 40, total_tokens: 100 };
  return response(
    'application/json',
    JSON.stringify({ id: 'warm-up', object: 'chat.completion', created: 0, model: 'warm-up', choices, usage }),
  );
}

function stream(text) {
  const parts = text.match(/[^]{1,24}/gu).map((content) => ({ delta: { content }, finish_reason: null }));
  const events = [
    { delta: { role: 'assistant', content: '' }, finish_reason: null },
    ...parts,
    { delta: {}, finish_reason: 'stop' },
  ];
  const data = events.map(
    (choice) =>
      `data: ${JSON.stringify({ id: 'warm-up', object: 'chat.completion.chunk', created: 0, model: 'warm-up', choices: [{ index: 0, ...choice }] })}\n\n`,
  );
  return response('text/event-stream', `${data.join('')}data: [DONE]\n\n`);
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

const functions = CALLS.map(
  ({ parameters, returns }, index) => `client<llm> Model${index} {
  provider openai-generic
${index % 2 === 0 ? '  retry_policy Twice\n' : ''}  options {
    model "warm-up"
    base_url env.WARM_UP_MODEL_${index}
    api_key "warm-up"
${index % 3 === 0 ? '    temperature 0.5\n' : ''}  }
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
if (program === undefined) throw new Error(diagnostics.map(({ message }) => message).join('\n'));
const compiler = new ValidatorCompiler(program);
const warmUp = {
  program: { ...program, openapi: '{}' },
  validators: Object.fromEntries(program.functions.map(({ name }) => [name, compiler.source(name)])),
  replies: CALLS.map(({ route, text }) => (route === 'call' ? completion(text) : stream(text))),
  calls: CALLS.flatMap(({ times, route, body }, index) =>
    Array.from({ length: times }, () => ({ path: `/${route}/Read${index}`, body })),
  ),
};
writeFileSync(new URL('../dist/assets/warm-up.json', import.meta.url), JSON.stringify(warmUp));
