// Copies the files of the documentation page to dist/assets/docs: our own, and those of Swagger UI that it needs.
// Run it after tsc; another run gives the same result.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compressFiles } from './compress.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'src/server/http/docs/page');
const target = join(root, 'dist/assets/docs');
const swaggerUi = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
cpSync(page, target, { recursive: true });

// Remove the references to source maps, which svc does not ship.
for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
  const text = readFileSync(join(swaggerUi, name), 'utf8');
  writeFileSync(join(target, name), text.replace(/\n?(?:\/\/|\/\*)# sourceMappingURL=.*$/u, ''));
}

// The migrations of the databases of calls.
cpSync(join(root, 'src/calls/migrations'), join(root, 'dist/assets/calls'), { recursive: true });

compressFiles(target);

// The licences of the copies, which svc does not serve.
cpSync(join(swaggerUi, 'LICENSE'), join(target, 'swagger-ui.LICENSE'));
cpSync(join(swaggerUi, 'NOTICE'), join(target, 'swagger-ui.NOTICE'));
cpSync(join(swaggerUi, 'swagger-ui-bundle.js.LICENSE.txt'), join(target, 'swagger-ui-bundle.js.LICENSE.txt'));
