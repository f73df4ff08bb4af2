import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  type CodeAction,
  type CompletionItem,
  createProtocolConnection,
  type Diagnostic,
  DiagnosticTag,
  type Hover,
  type InitializeResult,
  type Location,
  type ProtocolConnection,
  type PublishDiagnosticsParams,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver-protocol/node';
import { SVC_MAIN, temporaryFolder } from '../support/running-server.ts';

/** An editor that talks to a started server with the client library of the protocol. */
class Editor {
  readonly folder: string;
  readonly #child: ChildProcess;
  readonly #connection: ProtocolConnection;
  readonly #texts = new Map<string, string>();
  readonly #versions = new Map<string, number>();
  readonly #reports = new Map<string, PublishDiagnosticsParams>();
  readonly #waiting = new Set<() => void>();
  errors = '';
  registered: readonly string[] = [];

  constructor(folder: string, env: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    this.#child = spawn(process.execPath, [SVC_MAIN, 'lsp', '--stdio', '--no-dotenv'], {
      cwd: folder,
      env: { ...process.env, ...env },
    });
    const { stdin, stdout, stderr } = this.#child;
    if (stdin === null || stdout === null) throw new Error('the server has no streams');
    stderr?.on('data', (chunk: Buffer) => {
      this.errors += chunk.toString();
    });
    this.#connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.#connection.onNotification('textDocument/publishDiagnostics', (report: PublishDiagnosticsParams) => {
      this.#reports.set(report.uri, report);
      for (const look of this.#waiting) look();
    });
    this.#connection.onRequest(
      'client/registerCapability',
      ({ registrations }: { readonly registrations: ReadonlyArray<{ readonly method: string }> }) => {
        this.registered = registrations.map(({ method }) => method);
        for (const look of this.#waiting) look();
        return null;
      },
    );
    this.#connection.listen();
    onTestFinished(() => {
      this.#connection.dispose();
      this.#child.kill('SIGKILL');
    });
  }

  uri(name: string): string {
    return pathToFileURL(join(this.folder, name)).href;
  }

  request<Answer>(method: string, params?: object): Promise<Answer> {
    return params === undefined ? this.#connection.sendRequest(method) : this.#connection.sendRequest(method, params);
  }

  notify(method: string, params: object = {}): Promise<void> {
    return this.#connection.sendNotification(method, params);
  }

  async initialize(): Promise<InitializeResult> {
    const capabilities = {
      workspace: { didChangeWatchedFiles: { dynamicRegistration: true }, workspaceFolders: true },
    };
    const workspaceFolders = [{ uri: pathToFileURL(this.folder).href, name: 'project' }];
    const rootUri = pathToFileURL(this.folder).href;
    const processId = process.pid;
    const result = await this.request<InitializeResult>('initialize', {
      processId,
      rootUri,
      capabilities,
      workspaceFolders,
    });
    await this.notify('initialized');
    return result;
  }

  /** Opens a document with the text of its file, and returns its first report. */
  async open(name: string, text = readFileSync(join(this.folder, name), 'utf8')): Promise<readonly Diagnostic[]> {
    this.#texts.set(name, text);
    this.#versions.set(name, 1);
    const uri = this.uri(name);
    await this.notify('textDocument/didOpen', { textDocument: { uri, languageId: 'svc', version: 1, text } });
    return this.#reported(name, 1);
  }

  /** Replaces the text of an open document, and returns the report for it. */
  async type(name: string, text: string): Promise<readonly Diagnostic[]> {
    const version = (this.#versions.get(name) ?? 0) + 1;
    this.#versions.set(name, version);
    this.#texts.set(name, text);
    const textDocument = { uri: this.uri(name), version };
    await this.notify('textDocument/didChange', { textDocument, contentChanges: [{ text }] });
    return this.#reported(name, version);
  }

  /** Applies edits to open documents, as an editor does. */
  async apply({ changes = {} }: WorkspaceEdit): Promise<void> {
    for (const [uri, edits] of Object.entries(changes)) {
      const name = [...this.#texts.keys()].find((each) => this.uri(each) === uri);
      if (name === undefined) throw new Error(`${uri} is not open`);
      await this.type(name, withEdits(this.text(name), edits));
    }
  }

  text(name: string): string {
    return this.#texts.get(name) ?? '';
  }

  /** The position of a word inside a unique part of a document, and the document. */
  at(name: string, part: string, word = part) {
    return this.#positionAt(name, part, part.indexOf(word));
  }

  /** The position after a part of a document. */
  after(name: string, part: string) {
    return this.#positionAt(name, part, part.length);
  }

  #positionAt(name: string, part: string, offset: number) {
    const start = this.text(name).indexOf(part);
    expect(start, `${part} in ${name}`).toBeGreaterThanOrEqual(0);
    const before = this.text(name)
      .slice(0, start + offset)
      .split('\n');
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
    return { textDocument: { uri: this.uri(name) }, position };
  }

  /** Saves a file outside of the editor, and reports it as a watcher does. `undefined` deletes it. */
  async save(name: string, content: string | Buffer | undefined): Promise<void> {
    if (content === undefined) rmSync(join(this.folder, name));
    else writeFileSync(join(this.folder, name), content);
    await this.notify('workspace/didChangeWatchedFiles', {
      changes: [{ uri: this.uri(name), type: content === undefined ? 3 : 2 }],
    });
  }

  async #reported(name: string, version: number): Promise<readonly Diagnostic[]> {
    await this.until(() => this.#reports.get(this.uri(name))?.version === version);
    return this.problems(name);
  }

  problems(name: string): readonly Diagnostic[] {
    return this.#reports.get(this.uri(name))?.diagnostics ?? [];
  }

  codes(name: string): readonly unknown[] {
    return this.problems(name).map(({ code }) => code);
  }

  /** Waits for messages of the server until they make a condition true. */
  until(isTrue: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!isTrue()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode !== null) return this.#child.exitCode;
    const [code] = (await once(this.#child, 'exit')) as [number | null];
    return code;
  }

  /** Closes the input of the server. */
  closeInput(): void {
    this.#child.stdin?.end();
  }
}

function withEdits(text: string, edits: readonly TextEdit[]): string {
  const lines = text.split('\n');
  const offset = ({ line, character }: TextEdit['range']['start']): number =>
    lines.slice(0, line).reduce((sum, each) => sum + each.length + 1, character);
  let result = text;
  for (const { range, newText } of edits.toSorted((a, b) => offset(b.range.start) - offset(a.range.start)))
    result = result.slice(0, offset(range.start)) + newText + result.slice(offset(range.end));
  return result;
}

function markdownOf(hover: Hover | null): string {
  const contents = hover?.contents;
  return contents !== undefined && typeof contents === 'object' && 'value' in contents ? contents.value : '';
}

const RESUME = `/// A person's career.
class Resume {
  name string
  skills string[]
}
`;

const EXTRACT = `function Extract(text: string, unused: int) -> Resume {
  client Offline
  prompt #"
    {{ _.role("system") }}
    Read: {{ text }}
    {{ ctx.output_format }}
  "#
}

test Ada {
  functions [Extract]
  args {
    text "Ada Lovelace"
    unused 1
  }
  @@assert(named, {{ this.name != "" }})
}
`;

const CLIENTS = `client<llm> Offline {
  provider offline
}
`;

test('an editing session', async () => {
  const folder = temporaryFolder({
    'my project/svc_src/resume.svc': RESUME,
    'my project/svc_src/extract ä.svc': EXTRACT,
    'my project/svc_src/clients.svc': CLIENTS,
    'my project/.env.example': 'MODEL_KEY=never-shown\n',
    'other/baml_src/main.baml': 'class Resume {\n  other int\n}\n',
  });
  const editor = new Editor(folder);
  const [resume, extract, clients] = ['resume', 'extract ä', 'clients'].map(
    (name) => `my project/svc_src/${name}.svc`,
  ) as [string, string, string];

  // 1: the server states its features, and registers its watchers.
  const { capabilities, serverInfo } = await editor.initialize();
  expect(serverInfo?.name).toBe('svc');
  expect(capabilities).toMatchObject({ hoverProvider: true, renameProvider: { prepareProvider: true } });
  await editor.until(() => editor.registered.length > 0);
  expect(editor.registered).toEqual(['workspace/didChangeWatchedFiles']);

  // 2: a document without problems; the class of the same name in the other program does not matter.
  expect(await editor.open(resume)).toEqual([]);

  // 3: a parameter that the prompt does not use is faded.
  const [unused] = await editor.open(extract);
  expect(unused).toMatchObject({ code: 'template/unused-parameter', source: 'svc', tags: [DiagnosticTag.Unnecessary] });
  expect(unused?.range.start).toEqual({ line: 0, character: 31 });

  // 4: a mistake while typing is reported with its help, at its place.
  const [mistake] = await editor.type(
    extract,
    EXTRACT.replace('-> Resume', '-> Resum').replace('{{ text }}', '{{ text }} {{ unused }}'),
  );
  expect(mistake).toMatchObject({ code: 'check/unknown-type', severity: 1 });
  expect(mistake?.message).toContain('Did you mean "Resume"?');

  // 5: the code action corrects it.
  const actions = await editor.request<CodeAction[]>('textDocument/codeAction', {
    textDocument: { uri: editor.uri(extract) },
    range: mistake?.range,
    context: { diagnostics: [mistake] },
  });
  const [fix] = actions;
  expect(actions.length).toBe(1);
  expect(fix).toMatchObject({
    title: 'Change to "Resume"',
    kind: 'quickfix',
    isPreferred: true,
    diagnostics: [mistake],
  });
  await editor.apply(fix?.edit ?? {});
  expect(editor.text(extract)).toContain('-> Resume {');
  expect(editor.problems(extract)).toEqual([]);

  // 6: a half-written file does not affect the features of the others.
  await editor.type(resume, 'class Resume {\n  name str');
  expect(editor.codes(resume)).toContain('parse/unclosed-bracket');
  const names = await editor.request<CompletionItem[]>('textDocument/completion', editor.after(extract, 'client '));
  expect(names.map(({ label }) => label)).toContain('Offline');

  // 7: a duplicate has its other place as related information.
  await editor.type(resume, `${RESUME}class Resume {\n  name string\n}\n`);
  expect(editor.problems(resume)[0]?.relatedInformation?.[0]?.location).toMatchObject({
    uri: editor.uri(resume),
    range: { start: { line: 1, character: 6 } },
  });
  expect(await editor.type(resume, RESUME)).toEqual([]);

  // 8: a hover of the class, from another file.
  const hoverOfClass = await editor.request<Hover | null>(
    'textDocument/hover',
    editor.at(extract, '-> Resume', 'Resume'),
  );
  expect(markdownOf(hoverOfClass)).toContain("A person's career.");
  expect(markdownOf(hoverOfClass)).toContain('Used in 1 place.');

  // 9: a hover of the function with its prompt.
  const hoverOfFunction = await editor.request<Hover | null>('textDocument/hover', editor.at(extract, 'Extract'));
  expect(markdownOf(hoverOfFunction)).toContain('[system]\nRead: Ada Lovelace');

  // 10: completions in a template.
  await editor.type(extract, editor.text(extract).replace('{{ unused }}', '{{ un }}'));
  const inTemplate = await editor.request<CompletionItem[]>('textDocument/completion', editor.after(extract, '{{ un'));
  expect(inTemplate.map(({ label }) => label)).toEqual(expect.arrayContaining(['text', 'unused', 'ctx']));
  const item = inTemplate.find(({ label }) => label === 'unused');
  if (item?.textEdit === undefined || !('range' in item.textEdit)) throw new Error('there is no edit');

  // 11: accepting one leaves no problem.
  await editor.apply({ changes: { [editor.uri(extract)]: [item.textEdit] } });
  expect(editor.problems(extract)).toEqual([]);

  // 12: names of environment variables come without their values.
  await editor.open(clients);
  await editor.type(
    clients,
    `${CLIENTS}client<llm> Paid {\n  provider openai\n  options {\n    api_key env.\n  }\n}\n`,
  );
  const variables = await editor.request<CompletionItem[]>('textDocument/completion', editor.after(clients, 'env.'));
  expect(variables.map(({ label }) => label)).toContain('env.MODEL_KEY');
  expect(JSON.stringify(variables)).not.toContain('never-shown');

  // 13: the options of the provider with their texts.
  await editor.type(clients, editor.text(clients).replace('    api_key env.\n', '    api_key env.MODEL_KEY\n    \n'));
  const inOptions = editor.after(clients, 'env.MODEL_KEY\n    ');
  const options = await editor.request<CompletionItem[]>('textDocument/completion', inOptions);
  const labels = options.map(({ label }) => label);
  expect(labels).toEqual(expect.arrayContaining(['base_url', 'headers']));
  expect(labels).not.toContain('api_key');
  const hoverOfOption = await editor.request<Hover | null>('textDocument/hover', editor.at(clients, 'api_key'));
  expect(markdownOf(hoverOfOption)).toContain('`api_key` of provider `openai`');

  // 14: the definition in another file, with an encoded URI.
  const definitions = await editor.request<Location[]>(
    'textDocument/definition',
    editor.at(extract, 'this.name', 'name'),
  );
  expect(definitions).toEqual([
    { uri: editor.uri(resume), range: { start: { line: 2, character: 2 }, end: { line: 2, character: 6 } } },
  ]);

  // 15: the same request with another encoding of the URI.
  const { position } = editor.at(extract, 'this.name', 'name');
  const otherUri = editor.uri(extract).replace('%C3%A4', '%c3%a4');
  expect(otherUri).not.toBe(editor.uri(extract));
  expect(await editor.request('textDocument/definition', { textDocument: { uri: otherUri }, position })).toEqual(
    definitions,
  );

  // 16: references, with and without the declaration.
  const references = (includeDeclaration: boolean) =>
    editor.request<Location[]>('textDocument/references', {
      ...editor.at(resume, 'name string', 'name'),
      context: { includeDeclaration },
    });
  expect((await references(false)).map(({ uri }) => uri)).toEqual([editor.uri(extract)]);
  expect((await references(true)).length).toBe(2);

  // 17: a name that collides is refused with its reason.
  const rename = (newName: string) =>
    editor.request<WorkspaceEdit>('textDocument/rename', { ...editor.at(resume, 'name string', 'name'), newName });
  await expect(rename('skills')).rejects.toThrow('skills');
  await expect(rename('a b')).rejects.toThrow('"a b" is not a name');

  // 18: what can be renamed, and what cannot.
  const prepared = await editor.request<{ readonly placeholder: string }>(
    'textDocument/prepareRename',
    editor.at(extract, 'this.name', 'name'),
  );
  expect(prepared.placeholder).toBe('name');
  await expect(editor.request('textDocument/prepareRename', editor.at(extract, 'prompt'))).rejects.toThrow(
    'no name to rename',
  );

  // 19: a rename across files.
  await editor.apply(await rename('full_name'));
  expect(editor.text(resume)).toContain('full_name string');
  expect(editor.text(extract)).toContain('this.full_name');
  await editor.until(() => editor.problems(resume).length + editor.problems(extract).length === 0);

  // 20: the outline of a document.
  const outline = await editor.request<
    ReadonlyArray<{ readonly name: string; readonly children?: readonly unknown[] }>
  >('textDocument/documentSymbol', { textDocument: { uri: editor.uri(resume) } });
  expect(outline.map(({ name, children }) => [name, children?.length])).toEqual([['Resume', 2]]);

  // 21: symbols of both programs.
  const symbols = await editor.request<ReadonlyArray<{ readonly name: string }>>('workspace/symbol', { query: 'rsm' });
  expect(symbols.map(({ name }) => name)).toEqual(['Resume', 'Resume']);

  // 22: folding, and semantic tokens.
  const textDocument = { uri: editor.uri(extract) };
  const folds = await editor.request<readonly object[]>('textDocument/foldingRange', { textDocument });
  expect(folds).toContainEqual({ startLine: 0, endLine: 6 });
  const tokens = await editor.request<{ readonly data: readonly number[] }>('textDocument/semanticTokens/full', {
    textDocument,
  });
  const { tokenTypes = [], tokenModifiers = [] } = capabilities.semanticTokensProvider?.legend ?? {};
  const declaration = 1 << tokenModifiers.indexOf('declaration');
  expect(tokens.data.slice(0, 5)).toEqual([0, 9, 7, tokenTypes.indexOf('function'), declaration]);

  // 23: the lenses name commands of the client.
  const lenses = await editor.request<ReadonlyArray<{ readonly command: object }>>('textDocument/codeLens', {
    textDocument,
  });
  expect(lenses.map(({ command }) => command)).toContainEqual({
    title: 'Run test',
    command: 'svc.runTest',
    arguments: ['Extract', 'Ada', editor.uri(extract)],
  });

  // 24: formatting.
  await editor.type(clients, 'client<llm>   Offline {\nprovider offline\n}\n');
  const formatted = await editor.request<TextEdit[]>('textDocument/formatting', {
    textDocument: { uri: editor.uri(clients) },
    options: { tabSize: 2, insertSpaces: true },
  });
  await editor.apply({ changes: { [editor.uri(clients)]: formatted } });
  expect(editor.text(clients)).toBe(CLIENTS);

  // 25: a file with syntax errors is not formatted.
  await editor.type(clients, 'client<llm> Offline {');
  const broken = { textDocument: { uri: editor.uri(clients) }, options: { tabSize: 2, insertSpaces: true } };
  await expect(editor.request('textDocument/formatting', broken)).rejects.toThrow('syntax errors');

  // 26: a document that the user closes has the text of its file again.
  await editor.notify('textDocument/didClose', { textDocument: { uri: editor.uri(clients) } });
  await editor.until(() => editor.problems(clients).length === 0 && editor.problems(extract).length === 0);

  // 27: a file that disappears is missing.
  await editor.save(clients, undefined);
  await editor.until(() => editor.codes(extract).includes('check/unknown-client'));
  expect(editor.problems(clients)).toEqual([]);

  // 28: a file that is not UTF-8 has one problem, and the others keep theirs.
  await editor.save(clients, Buffer.from([0x63, 0xff, 0xfe, 0x0a]));
  await editor.until(() => editor.problems(clients).length === 1);
  expect(editor.problems(clients)[0]?.message).toContain('is not valid UTF-8');
  expect(editor.codes(extract)).toEqual(['check/unknown-client']);

  // 29: once it is readable, its problem is gone.
  await editor.save(clients, CLIENTS);
  await editor.until(() => editor.problems(clients).length === 0 && editor.problems(extract).length === 0);

  // 30: a renamed directory is followed, and problems of the old files go.
  await editor.save(clients, 'client<llm> Offline {\n  provider offlin\n}\n');
  await editor.until(() => editor.codes(clients).includes('check/unknown-provider'));
  mkdirSync(join(folder, 'my project/svc_src/deep'));
  const moved = 'my project/svc_src/deep/clients.svc';
  renameSync(join(folder, clients), join(folder, moved));
  await editor.notify('workspace/didRenameFiles', {
    files: [{ oldUri: editor.uri(clients), newUri: editor.uri(moved) }],
  });
  await editor.until(
    () => editor.codes(moved).includes('check/unknown-provider') && editor.problems(clients).length === 0,
  );

  // 31: a request about an unknown document has no answer, and one without a document is an error; the server lives on.
  expect(
    await editor.request('textDocument/hover', { textDocument: { uri: editor.uri('none.svc') }, position }),
  ).toBeNull();
  await expect(editor.request('textDocument/hover', {})).rejects.toThrow('Its log has the reason');
  await expect(editor.request('svc/unknown')).rejects.toThrow('Unhandled method');
  await editor.until(() => editor.errors.includes('a bug in hover'));

  // 32: a new folder is a program of its own.
  const more = temporaryFolder({ 'svc_src/more.svc': 'class More {\n  a Unknown\n}\n' });
  const added = [{ uri: pathToFileURL(more).href, name: 'more' }];
  await editor.notify('workspace/didChangeWorkspaceFolders', { event: { added, removed: [] } });
  const moreName = join('..', ...more.split('/').slice(-1), 'svc_src/more.svc');
  await editor.until(() => editor.codes(moreName).includes('check/unknown-type'));

  // 33: without the folder, its problems go.
  await editor.notify('workspace/didChangeWorkspaceFolders', { event: { added: [], removed: added } });
  await editor.until(() => editor.problems(moreName).length === 0);

  // 34: an unsaved document without a file.
  const untitled = { uri: 'untitled:Untitled-1', languageId: 'svc', version: 1, text: 'class A {\n  b Strin\n}\n' };
  await editor.notify('textDocument/didOpen', { textDocument: untitled });
  const inUntitled = { textDocument: { uri: untitled.uri }, position: { line: 1, character: 4 } };
  const types = await editor.request<CompletionItem[]>('textDocument/completion', inUntitled);
  expect(types.map(({ label }) => label)).toEqual(expect.arrayContaining(['string', 'A']));
  expect(types.map(({ label }) => label)).not.toContain('Resume');

  // 35: the end.
  expect(await editor.request('shutdown')).toBeNull();
  await editor.notify('exit');
  expect(await editor.ended()).toBe(0);
});

test('the server ends with 1 if its input closes before a shutdown', async () => {
  const editor = new Editor(temporaryFolder({ 'svc_src/a.svc': RESUME }));
  await editor.initialize();
  editor.closeInput();
  expect(await editor.ended()).toBe(1);
  expect(editor.errors).toBe('');
});

test('the prompt of a test shows the variables that it reads, except for credentials', async () => {
  const text = `function Greet(name: string, key: string) -> string {
  client "openai/gpt-4o"
  prompt #"Hello {{ name }}, {{ key }}"#
}
test One {
  functions [Greet]
  args {
    name env.GUEST_NAME
    key env.OPENAI_API_KEY
  }
}
`;
  const folder = temporaryFolder({ 'svc_src/a.svc': text });
  const editor = new Editor(folder, { GUEST_NAME: 'Ada', OPENAI_API_KEY: 'sk-secret-value-of-a-key-1234' });
  await editor.initialize();
  const textDocument = { uri: editor.uri('svc_src/a.svc') };
  const position = { line: 0, character: 10 };
  const hover = await editor.request<Hover | null>('textDocument/hover', { textDocument, position });
  expect(markdownOf(hover)).toContain('Hello Ada, [redacted]');
});
