/** The `--config` option of every command. */
export const configOption = [
  '-c, --config <file>',
  'configuration file (default: grantry.config.json, .ts or .mjs in this directory)',
] as const
