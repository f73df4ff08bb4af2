import {
  CodeActionKind,
  createConnection,
  type Diagnostic,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  LSPErrorCodes,
  type Position,
  type Range,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import type { Result } from '../../base/result.ts';
import type { Analysis } from '../../compiler/2-check/check.ts';
import type { CompileOptions } from '../../compiler/compile-options.ts';
import { completionsAt } from './completion.ts';
import { hoverAt, type RenderedPrompt, type RenderPrompt } from './hover.ts';
import { definitionsAt, referencesAt, renameAt, renamedAt } from './navigation.ts';
import { codeLenses, documentSymbols, foldingRanges, formattingEdits, workspaceSymbols } from './outline.ts';
import { offsetAt } from './places.ts';
import { problemsByFile, quickFixes } from './problems.ts';
import type { RenderSettings } from './render-prompt.ts';
import { semanticTokens, TOKEN_LEGEND } from './semantic-tokens.ts';
import { type FilePlace, type FileOfProgram, Workspace } from './workspace.ts';

export interface LanguageServerSettings {
  readonly compile: CompileOptions;
  readonly render: RenderSettings;
  /** Receives each exception with its stack, for the log. */
  readonly report: (problem: string) => void;
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** The longest pause between the last change and the report of its problems, in milliseconds: people notice longer ones. */
const LONGEST_PAUSE_MS = 200;

/** The time for answers after the end of the input. The process ends earlier if nothing is left to do; an editor that died reads nothing. */
const LAST_ANSWERS_MS = 1000;

/**
 * Serves the Language Server Protocol 3.17 over two streams. The process ends with the protocol: with 0 after `shutdown` and `exit`, and
 * with 1 if the input ends before.
 */
export function serveLanguage(settings: LanguageServerSettings, { input, output }: Streams): void {
  new LanguageServer(settings, { input, output }).listen();
}

/** The parameters of a request about a document, and about a position in it. */
interface DocumentParams {
  readonly textDocument: { readonly uri: string };
}
interface PositionParams extends DocumentParams {
  readonly position: Position;
}

class LanguageServer {
  readonly #connection: ReturnType<typeof createConnection>;
  readonly #workspace: Workspace;
  readonly #settings: LanguageServerSettings;
  readonly #prompts = new WeakMap<Analysis, Map<string, Promise<RenderedPrompt | undefined>>>();
  /** By path: the last report, as text. */
  readonly #published = new Map<string, { readonly uri: string; readonly report: string }>();
  #timer: NodeJS.Timeout | undefined;
  #lastCheckMs = 0;
  #hasEnded = false;
  #client = { watchesFiles: false, hasFolders: false };

  constructor(settings: LanguageServerSettings, { input, output }: Streams) {
    this.#settings = settings;
    this.#workspace = new Workspace(settings.compile);
    // With the streams themselves, the end of the input would end the process before the last messages have their answers.
    this.#connection = createConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
    input.once('end', () => {
      this.#hasEnded = true;
      process.exitCode = 1;
      setTimeout(() => process.exit(), LAST_ANSWERS_MS).unref();
    });
  }

  listen(): void {
    this.#followDocuments();
    this.#answerAboutDocuments();
    this.#answerAboutPositions();
    this.#connection.listen();
  }

  // --- documents and files -------------------------------------------------------------------------------------------

  #followDocuments(): void {
    const connection = this.#connection;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#notified('initialized', () => this.#watchFiles()));
    connection.onDidOpenTextDocument(({ textDocument }) =>
      this.#notified('didOpen', () => this.#workspace.edit(textDocument)),
    );
    connection.onDidChangeTextDocument(({ textDocument: { uri, version }, contentChanges }) =>
      this.#notified('didChange', () => {
        const text = contentChanges.at(-1)?.text;
        if (text !== undefined) this.#workspace.edit({ uri, version, text });
      }),
    );
    connection.onDidCloseTextDocument(({ textDocument }) =>
      this.#notified('didClose', () => this.#workspace.close(textDocument.uri)),
    );
    connection.onDidChangeWatchedFiles(({ changes }) => this.#refresh(changes.map(({ uri }) => uri)));
    connection.workspace.onDidCreateFiles(({ files }) => this.#refresh(files.map(({ uri }) => uri)));
    connection.workspace.onDidDeleteFiles(({ files }) => this.#refresh(files.map(({ uri }) => uri)));
    connection.workspace.onDidRenameFiles(({ files }) =>
      this.#refresh(files.flatMap(({ oldUri, newUri }) => [oldUri, newUri])),
    );
  }

  #initialize({ capabilities, workspaceFolders, rootUri }: InitializeParams): InitializeResult {
    const folders = workspaceFolders?.map(({ uri }) => uri) ?? [rootUri ?? []].flat();
    for (const uri of folders) this.#workspace.addFolder(uri);
    const { didChangeWatchedFiles, workspaceFolders: hasFolders } = capabilities.workspace ?? {};
    this.#client = {
      watchesFiles: didChangeWatchedFiles?.dynamicRegistration === true,
      hasFolders: hasFolders === true,
    };
    const filters = [{ scheme: 'file', pattern: { glob: '**' } }];
    return {
      serverInfo: { name: 'svc', version: this.#settings.compile.version },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Full },
        completionProvider: { triggerCharacters: ['.', '@', '|', '"', '/'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        foldingRangeProvider: true,
        documentFormattingProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
        codeLensProvider: { resolveProvider: false },
        semanticTokensProvider: { legend: TOKEN_LEGEND, full: true },
        workspace: {
          workspaceFolders: { supported: true, changeNotifications: true },
          fileOperations: { didCreate: { filters }, didDelete: { filters }, didRename: { filters } },
        },
      },
    };
  }

  #watchFiles(): void {
    const connection = this.#connection;
    if (this.#client.hasFolders) {
      connection.workspace.onDidChangeWorkspaceFolders(({ added, removed }) =>
        this.#notified('didChangeWorkspaceFolders', () => {
          for (const { uri } of removed) this.#workspace.removeFolder(uri);
          for (const { uri } of added) this.#workspace.addFolder(uri);
        }),
      );
    }
    if (!this.#client.watchesFiles) return;
    const watchers = [{ globPattern: '**/*.{svc,baml}' }, { globPattern: '**/{svc_src,baml_src}' }];
    connection.client
      .register(DidChangeWatchedFilesNotification.type, { watchers })
      .catch((error: unknown) => this.#reportBug('client/registerCapability', error));
  }

  #refresh(uris: readonly string[]): void {
    this.#notified('a change of files', () => this.#workspace.refresh(uris));
  }

  /** Handles a notification, after which problems can differ. */
  #notified(what: string, handle: () => void): void {
    // The library sends nothing anymore.
    if (this.#hasEnded) return;
    try {
      handle();
    } catch (error) {
      this.#reportBug(what, error);
    }
    clearTimeout(this.#timer);
    // A pause as long as the last check: while someone types fast in a large program, requests come first.
    this.#timer = setTimeout(() => this.#publish(), Math.min(this.#lastCheckMs, LONGEST_PAUSE_MS));
  }

  /** Reports the problems of every file whose problems or version changed. */
  #publish(): void {
    if (this.#hasEnded) return;
    const startedAt = performance.now();
    const gone = new Set(this.#published.keys());
    for (const program of this.#workspace.programs) {
      try {
        for (const [path, diagnostics] of problemsByFile(program, this.#workspace)) {
          gone.delete(path);
          this.#send(path, diagnostics);
        }
      } catch (error) {
        this.#reportBug(`a check of ${program.root}`, error);
      }
    }
    for (const path of gone) {
      this.#send(path, []);
      this.#published.delete(path);
    }
    this.#lastCheckMs = performance.now() - startedAt;
  }

  #send(path: string, diagnostics: readonly Diagnostic[]): void {
    const uri = this.#workspace.uriOf(path);
    const version = this.#workspace.versionOf(path);
    const report = JSON.stringify([version, diagnostics]);
    const last = this.#published.get(path);
    if (last?.report === report && last.uri === uri) return;
    if (last !== undefined || diagnostics.length > 0 || version !== undefined) {
      const sent = this.#connection.sendDiagnostics({
        uri,
        diagnostics: [...diagnostics],
        ...(version !== undefined && { version }),
      });
      sent.catch((error: unknown) => this.#reportBug('publishDiagnostics', error));
    }
    this.#published.set(path, { uri, report });
  }

  // --- requests ------------------------------------------------------------------------------------------------------

  #answerAboutDocuments(): void {
    const connection = this.#connection;
    const workspace = this.#workspace;
    const about = this.#aboutDocument;
    connection.onDocumentSymbol(
      about('documentSymbol', ({ program, path }) => {
        const document = program.document(path);
        return document === undefined ? [] : [...documentSymbols(document)];
      }),
    );
    connection.onFoldingRanges(
      about('foldingRange', ({ program, path }) => {
        const document = program.document(path);
        return document === undefined ? [] : [...foldingRanges(document)];
      }),
    );
    connection.onDocumentFormatting(
      about('formatting', ({ program, path }) => {
        const edits = formattingEdits(program, path);
        if (edits !== undefined) return [...edits];
        throw new ResponseError(LSPErrorCodes.RequestFailed, 'The file has syntax errors, so svc cannot format it.');
      }),
    );
    connection.onCodeLens(about('codeLens', ({ program, path }) => [...codeLenses(program, workspace, path)]));
    const tokens = about('semanticTokens', ({ program, path }) => ({ data: [...semanticTokens(program, path)] }));
    connection.languages.semanticTokens.on((params) => tokens(params) ?? { data: [] });
    connection.onCodeAction(
      about('codeAction', ({ program, path }, { range }: DocumentParams & { readonly range: Range }) => [
        ...quickFixes(program, workspace, path, range),
      ]),
    );
    connection.onWorkspaceSymbol(
      this.#answering('workspaceSymbol', ({ query }: { readonly query: string }) => [
        ...workspaceSymbols(workspace, query),
      ]),
    );
  }

  #answerAboutPositions(): void {
    const connection = this.#connection;
    const workspace = this.#workspace;
    const about = this.#aboutPosition;
    connection.onHover(about('hover', async (cursor) => (await hoverAt(cursor, this.#renderPrompt)) ?? null));
    connection.onCompletion(
      about('completion', (cursor) => [...completionsAt(cursor, workspace.variablesOf(cursor.program))]),
    );
    connection.onDefinition(about('definition', (cursor) => [...definitionsAt(workspace, cursor)]));
    connection.onReferences(
      about(
        'references',
        (cursor, params: PositionParams & { readonly context: { readonly includeDeclaration: boolean } }) => [
          ...referencesAt(workspace, cursor, params.context.includeDeclaration),
        ],
      ),
    );
    connection.onPrepareRename(
      about('prepareRename', (cursor) => {
        const { range, symbol } = valueOf(renamedAt(cursor));
        return { range, placeholder: symbol.name };
      }),
    );
    connection.onRenameRequest(
      about('rename', (cursor, { newName }: PositionParams & { readonly newName: string }) =>
        valueOf(renameAt(workspace, cursor, newName)),
      ),
    );
  }

  /** Answers about a document; null for one that no program has. */
  readonly #aboutDocument = <Answer, Params extends DocumentParams>(
    what: string,
    answer: (file: FileOfProgram, params: Params) => Answer,
  ): ((params: Params) => Answer | null) =>
    this.#answering(what, (params: Params) => {
      const file = this.#workspace.at(params.textDocument.uri);
      return file === undefined ? null : answer(file, params);
    });

  readonly #aboutPosition = <Answer, Params extends PositionParams>(
    what: string,
    answer: (cursor: FilePlace, params: Params) => Answer,
  ): ((params: Params) => Answer | null) =>
    this.#aboutDocument(what, (found, params: Params) => {
      const file = found.program.file(found.path);
      const offset = file === undefined ? 0 : offsetAt(file, params.position);
      return answer({ ...found, offset }, params);
    });

  /** Turns an exception into the answer to its request, and reports it: the server lives on. */
  #answering<Params, Answer>(what: string, answer: (params: Params) => Answer): (params: Params) => Answer {
    const fail = (error: unknown): never => {
      if (error instanceof ResponseError) throw error;
      this.#reportBug(what, error);
      throw new ResponseError(ErrorCodes.InternalError, `svc could not answer ${what}. Its log has the reason.`);
    };
    return (params) => {
      try {
        const answered = answer(params);
        return (answered instanceof Promise ? answered.catch(fail) : answered) as Answer;
      } catch (error) {
        return fail(error);
      }
    };
  }

  readonly #renderPrompt: RenderPrompt = (program, functionName) => {
    const analysis = program.analysis();
    const known = this.#prompts.get(analysis) ?? new Map<string, Promise<RenderedPrompt | undefined>>();
    this.#prompts.set(analysis, known);
    // The runtime takes longer to load than the rest of the server.
    const rendered =
      known.get(functionName) ??
      import('./render-prompt.ts').then(({ renderPrompt }) =>
        renderPrompt(program, functionName, this.#settings.render),
      );
    known.set(functionName, rendered);
    return rendered;
  };

  #reportBug(what: string, error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#settings.report(`a bug in ${what}: ${text}`);
  }
}

function valueOf<T>(result: Result<T, string>): T {
  if (result.ok) return result.value;
  throw new ResponseError(LSPErrorCodes.RequestFailed, result.failure);
}
