/** Imports among the files that it writes get a suffix, as modules of Node need it. */
export default {
  input: './generated/openapi.json',
  output: { path: './generated/hey-api', module: { extension: '.ts' } },
};
