/** How every command is told of another configuration than that of the directory. */
export const configOption = [
  '-c, --config <file>',
  'configuration (default: grantry.config.json, .ts or .mjs in this directory)',
] as const
