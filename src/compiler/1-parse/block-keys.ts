import type { DeclarationNode } from './syntax-nodes.ts';

/** The keys of the blocks that have keys, by the word that begins the block. */
export const KNOWN_KEYS: Readonly<Partial<Record<DeclarationNode['kind'], readonly string[]>>> = {
  function: ['client', 'prompt'],
  client: ['provider', 'retry_policy', 'options'],
  retry_policy: ['max_retries', 'strategy', 'statuses', 'on_invalid_reply', 'options'],
  generator: [
    'output_type',
    'output_dir',
    'version',
    'default_client_mode',
    'on_generate',
    'module_format',
    'client_package_name',
    'project',
  ],
  test: ['functions', 'args', 'type_builder'],
};
