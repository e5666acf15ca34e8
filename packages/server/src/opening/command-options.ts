/** The `--config` option of every command. */
export const configOption = [
  '-c, --config <file>',
  'configuration file (default: grantry.config.json, .ts or .mjs in this directory)',
] as const

/** The tenant that the present command names. */
let tenant: string | undefined

/** Sets the tenant that the following command changes; `undefined` for the server itself. */
export function selectTenant(name: string | undefined): void {
  tenant = name
}

export const selectedTenant = (): string | undefined => tenant
