import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import * as vscode from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand('svc.restart', restart),
    vscode.commands.registerCommand('svc.runTest', runTest),
    vscode.commands.registerCommand('svc.openPlayground', openPlayground),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('svc.command')) void restart();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(start),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.dispose();
  client = undefined;
}

async function restart(): Promise<void> {
  await deactivate();
  await start();
}

/** Starts `svc lsp`, which the folder itself can bring: only in a folder that the user trusts. */
async function start(): Promise<void> {
  if (client !== undefined || !vscode.workspace.isTrusted) return;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const [command = 'svc', ...args] = serverCommand(folder);
  const files = vscode.workspace.createFileSystemWatcher('**/{*.svc,*.baml,.env.example}');
  const started = new LanguageClient(
    'svc',
    'svc',
    { command, args: [...args, 'lsp'], options: folder === undefined ? {} : { cwd: folder } },
    { documentSelector: [{ language: 'svc' }], synchronize: { fileEvents: files } },
  );
  client = started;
  try {
    await started.start();
  } catch (error) {
    client = undefined;
    const reason = error instanceof Error ? error.message : String(error);
    const advice = 'Install it with "npm install svc-functions", or name the command in the setting "svc.command".';
    void vscode.window.showErrorMessage(`"${[command, ...args].join(' ')} lsp" does not start: ${reason} ${advice}`);
  }
}

/** The program and its arguments: that of the setting, that of the folder, or the one of the PATH. */
function serverCommand(folder: string | undefined): readonly string[] {
  const named = vscode.workspace.getConfiguration('svc').get<readonly string[]>('command') ?? [];
  if (named.length > 0) return named;
  const program = process.platform === 'win32' ? 'svc.cmd' : 'svc';
  const own = folder === undefined ? undefined : join(folder, 'node_modules', '.bin', program);
  return [own !== undefined && existsSync(own) ? own : program];
}

/** The arguments of both commands are those of the code lenses: a function, a test, and the file that has the test. */
async function runTest(functionName: string, test: string, uri: string): Promise<void> {
  const file = vscode.Uri.parse(uri);
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const cwd = folder?.uri.fsPath;
  const name = `${functionName}::${test}`;
  const [program = 'svc', ...args] = serverCommand(cwd);
  // A process without a shell: names need no quotes.
  const execution = new vscode.ProcessExecution(
    program,
    [...args, 'test', file.fsPath, '--include', name],
    cwd === undefined ? {} : { cwd },
  );
  const scope = folder ?? vscode.TaskScope.Workspace;
  await vscode.tasks.executeTask(new vscode.Task({ type: 'svc', test: name }, scope, name, 'svc', execution));
}

async function openPlayground(functionName: string): Promise<void> {
  const address = vscode.workspace.getConfiguration('svc').get<string>('playground') ?? '';
  const state = deflateRawSync(JSON.stringify({ functionName })).toString('base64url');
  await vscode.env.openExternal(vscode.Uri.parse(`${address}#s=${state}`));
}
