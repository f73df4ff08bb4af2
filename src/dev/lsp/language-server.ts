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
  ResponseError,
  TextDocumentSyncKind,
} from 'vscode-languageserver/node';
import type { Result } from '../../base/result.ts';
import type { Analysis } from '../../compiler/2-check/check.ts';
import type { CompileOptions } from '../../compiler/compile-options.ts';
import { completionsAt } from './completion.ts';
import { hoverAt, type RenderedPrompt, type RenderPrompt } from './hover.ts';
import { definitionsAt, highlightsAt, referencesAt, renameAt, renamedAt, type Cursor } from './navigation.ts';
import { codeLenses, documentSymbols, foldingRanges, formattingEdits, workspaceSymbols } from './outline.ts';
import { offsetAt } from './places.ts';
import { problemsByFile, quickFixes } from './problems.ts';
import type { RenderSettings } from './render-prompt.ts';
import { semanticTokens, TOKEN_LEGEND } from './semantic-tokens.ts';
import { Workspace, type FileOfProgram } from './workspace.ts';

export interface LanguageServerSettings {
  readonly compile: CompileOptions;
  readonly render: RenderSettings;
  /** Receives what the person who develops svc has to know: an exception with its stack. */
  readonly report: (problem: string) => void;
}

interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** The longest pause between the last change and the report of its problems, in milliseconds: people notice longer ones. */
const LONGEST_PAUSE_MS = 200;

/**
 * Serves the Language Server Protocol 3.17 over two streams. The process ends with the protocol: with 0 after `shutdown` and `exit`, and
 * with 1 if the input closes before.
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
  #client = { watchesFiles: false, hasFolders: false };

  constructor(settings: LanguageServerSettings, { input, output }: Streams) {
    this.#settings = settings;
    this.#workspace = new Workspace(settings.compile);
    this.#connection = createConnection(input, output);
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
    this.#client = { watchesFiles: didChangeWatchedFiles?.dynamicRegistration === true, hasFolders: hasFolders === true };
    const filters = [{ scheme: 'file', pattern: { glob: '**' } }];
    return {
      serverInfo: { name: 'svc', version: this.#settings.compile.version },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Full },
        completionProvider: { triggerCharacters: ['.', '@', '|', '"', '/'] },
        hoverProvider: true,
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
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
    try {
      handle();
    } catch (error) {
      this.#reportBug(what, error);
    }
    clearTimeout(this.#timer);
    // While someone types in a large program, checks take at most half of the time.
    this.#timer = setTimeout(() => this.#publish(), Math.min(this.#lastCheckMs, LONGEST_PAUSE_MS));
  }

  /** Reports the problems of every file whose problems or version changed. */
  #publish(): void {
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
    for (const path of gone) this.#send(path, []);
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
    const about = this.#aboutDocument.bind(this);
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
    connection.languages.semanticTokens.on(
      this.#answering('semanticTokens', ({ textDocument }: DocumentParams) => {
        const file = workspace.at(textDocument.uri);
        return { data: file === undefined ? [] : [...semanticTokens(file.program, file.path)] };
      }),
    );
    connection.onCodeAction(
      this.#answering(
        'codeAction',
        ({ textDocument, range }: DocumentParams & { readonly range: Parameters<typeof quickFixes>[3] }) => {
          const file = workspace.at(textDocument.uri);
          return file === undefined ? null : [...quickFixes(file.program, workspace, file.path, range)];
        },
      ),
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
    connection.onHover(
      this.#aboutPosition(
        'hover',
        async ({ program, path, offset }) => (await hoverAt(program, path, offset, this.#renderPrompt)) ?? null,
      ),
    );
    connection.onCompletion(
      this.#aboutPosition('completion', ({ program, path, offset }) => [
        ...completionsAt(program, path, offset, workspace.variablesOf(program)),
      ]),
    );
    connection.onDefinition(this.#aboutPosition('definition', (cursor) => [...definitionsAt(workspace, cursor)]));
    connection.onReferences(
      this.#aboutPosition(
        'references',
        (cursor, params: PositionParams & { readonly context: { readonly includeDeclaration: boolean } }) => [
          ...referencesAt(workspace, cursor, params.context.includeDeclaration),
        ],
      ),
    );
    connection.onDocumentHighlight(this.#aboutPosition('documentHighlight', (cursor) => [...highlightsAt(cursor)]));
    connection.onPrepareRename(
      this.#aboutPosition('prepareRename', (cursor) => {
        const { range, symbol } = valueOf(renamedAt(cursor));
        return { range, placeholder: symbol.name };
      }),
    );
    connection.onRenameRequest(
      this.#aboutPosition('rename', (cursor, { newName }: PositionParams & { readonly newName: string }) =>
        valueOf(renameAt(workspace, cursor, newName)),
      ),
    );
  }

  #aboutDocument<Answer>(
    what: string,
    answer: (file: FileOfProgram) => Answer,
  ): (params: DocumentParams) => Answer | null {
    return this.#answering(what, ({ textDocument }: DocumentParams) => {
      const file = this.#workspace.at(textDocument.uri);
      return file === undefined ? null : answer(file);
    });
  }

  #aboutPosition<Answer, Params extends PositionParams>(
    what: string,
    answer: (cursor: Cursor, params: Params) => Answer,
  ): (params: Params) => Answer | null {
    return this.#answering(what, (params: Params) => {
      const found = this.#workspace.at(params.textDocument.uri);
      const file = found?.program.file(found.path);
      if (found === undefined || file === undefined) return null;
      return answer({ ...found, offset: offsetAt(file, params.position) }, params);
    });
  }

  /** Turns an exception into the answer to its request, and reports it: the server lives on. */
  #answering<Params, Answer>(what: string, answer: (params: Params) => Answer): (params: Params) => Answer {
    const fail = (error: unknown): never => {
      if (error instanceof ResponseError) throw error;
      this.#reportBug(what, error);
      throw new ResponseError(ErrorCodes.InternalError, `svc failed to answer ${what}: the reason is in its log.`);
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
