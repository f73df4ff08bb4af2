import { foldedErrorsPlugin } from './folded-errors-plugin.js';
import { groupByFunction, nameFilterPlugin } from './group-by-function.js';
import { liveAnswers } from './live-answers.js';
import { liveAnswersPlugin } from './live-answers-plugin.js';
import { plainTextPlugin } from './plain-text-plugin.js';
import { withUsage } from './with-usage.js';

const KEY_HEADER = 'x-svc-api-key';

/** The endpoints whose answers the page shows in its own panel. */
const FUNCTION_PATH = /^\/(?:call|stream|render|parse)\//u;

/** With more functions than this, the page shows their names and a filter. */
const MOST_UNFOLDED = 12;

const STREAM_PATH = /^\/stream\//u;

// The page is at `<prefix>/docs`: all other addresses are relative to it, so that a path prefix works.
const base = new URL('.', location.href);

/** In memory only: closing or reloading the tab removes it. */
let key = '';
let page;

const element = (id) => document.getElementById(id);

/** Fetches the document; asks for the key when the server requires one. */
async function load() {
  notice('Loading …');
  let response;
  try {
    response = await fetch(new URL('openapi.json', base), { headers: keyHeaders(), cache: 'no-cache' });
    if (response.ok) return show(await response.json());
  } catch (error) {
    return notice(`The server does not answer: ${error.message}`);
  }
  if (response.status === 403) return askForKey(key === '' ? '' : 'The server does not accept this key.');
  return notice(`The server answered ${response.status} for openapi.json.`);
}

function keyHeaders() {
  return key === '' ? {} : { [KEY_HEADER]: key };
}

function notice(text) {
  element('notice').textContent = text;
  element('notice').hidden = text === '';
}

function askForKey(problem) {
  notice('');
  element('functions').replaceChildren();
  element('key-problem').textContent = problem;
  element('key-form').hidden = false;
  element('key').value = '';
  element('key').focus();
}

function show(definition) {
  notice('');
  element('key-form').hidden = true;
  element('change-key').hidden = key === '';
  element('playground').hidden = definition.info['x-playground'] === undefined;
  document.title = definition.info.title;
  const grouped = groupByFunction(definition);
  const isLong = grouped.tags.length > MOST_UNFOLDED;
  page = window.SwaggerUIBundle({
    spec: { ...grouped, servers: [{ url: base.href.replace(/\/$/u, '') }] },
    domNode: element('functions'),
    presets: [window.SwaggerUIBundle.presets.apis],
    plugins: [plainTextPlugin, foldedErrorsPlugin, liveAnswersPlugin, nameFilterPlugin],
    filter: isLong,
    docExpansion: isLong ? 'none' : 'list',
    layout: 'BaseLayout',
    queryConfigEnabled: false,
    validatorUrl: null,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    defaultModelsExpandDepth: 0,
    requestInterceptor: prepare,
    onComplete: () => {
      if (key !== '') page.preauthorizeApiKey('apiKey', key);
    },
  });
}

/** Adds the key to every request to this server, and shows the answers of functions while they arrive. */
function prepare(request) {
  const url = new URL(request.url, base);
  if (url.origin !== base.origin) return request;
  if (key !== '') request.headers[KEY_HEADER] ??= key;
  const path = url.pathname.slice(base.pathname.length - 1);
  if (!FUNCTION_PATH.test(path)) return request;
  const body = STREAM_PATH.test(path) ? withUsage : (text) => text;
  request.userFetch = (address, init) => liveAnswers.fetch(path, address, { ...init, body: body(init.body) });
  return request;
}

element('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  key = element('key').value;
  void load();
});
element('change-theme').addEventListener('click', () => {
  const dark = document.documentElement.classList.toggle('dark-mode');
  try {
    localStorage.setItem('svc-theme', dark ? 'dark' : 'light');
  } catch {
    // Storage is disabled: the choice lasts until the user leaves the page.
  }
});

element('change-key').addEventListener('click', () => {
  key = '';
  askForKey('');
});
void load();
