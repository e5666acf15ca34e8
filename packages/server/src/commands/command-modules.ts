import type { Command } from 'commander'

/** Commands that one module adds. */
interface CommandModule {
  readonly names: readonly string[]
  /** Resolves to the function that adds the commands to the program. */
  readonly load: () => Promise<(grantry: Command) => void>
}

/** All commands, in the order of the help. */
export const commandModules: readonly CommandModule[] = [
  { names: ['serve'], load: async () => (await import('./serve-command.ts')).addServeCommand },
  { names: ['reload'], load: async () => (await import('./reload.ts')).addReloadCommand },
  { names: ['clients'], load: async () => (await import('./clients-commands.ts')).addClientsCommands },
  { names: ['scopes'], load: async () => (await import('./scopes-commands.ts')).addScopesCommands },
  { names: ['tenants'], load: async () => (await import('./tenants-commands.ts')).addTenantsCommands },
  {
    names: ['plan', 'apply', 'export', 'import'],
    load: async () => (await import('./declaration-commands.ts')).addDeclarationCommands,
  },
  { names: ['users'], load: async () => (await import('./users/users-commands.ts')).addUsersCommands },
  { names: ['registrations'], load: async () => (await import('./registrations.ts')).addRegistrationsCommands },
  { names: ['audit'], load: async () => (await import('./audit.ts')).addAuditCommand },
  { names: ['keys'], load: async () => (await import('./keys-commands.ts')).addKeysCommands },
  { names: ['login'], load: async () => (await import('./login.ts')).addLoginCommand },
  { names: ['pages'], load: async () => (await import('./pages-commands.ts')).addPagesCommands },
  { names: ['schema'], load: async () => (await import('./schema.ts')).addSchemaCommand },
  { names: ['hash-secret', 'hash-password'], load: async () => (await import('./hash.ts')).addHashCommands },
  {
    names: ['init', 'check', 'token', 'revoke', 'purge'],
    load: async () => (await import('./operator-commands.ts')).addOperatorCommands,
  },
  { names: ['backup', 'storage'], load: async () => (await import('./storage-commands.ts')).addStorageCommands },
  { names: ['completion'], load: async () => (await import('./completion.ts')).addCompletionCommand },
]

/** Returns the first word that is neither an option nor the value of one. */
function commandIn(commandLine: readonly string[]): string | undefined {
  const [first, ...rest] = commandLine
  if (first === undefined || !first.startsWith('-')) return first
  return commandIn(first === '--tenant' ? rest.slice(1) : rest)
}

/**
 * Returns the modules that a command line needs, because loading all of them takes most of the time of a start. The
 * help, the completion and an unknown name need all.
 */
export function modulesFor(commandLine: readonly string[]): readonly CommandModule[] {
  const command = commandIn(commandLine) ?? 'help'
  const named = commandModules.filter(({ names }) => names.includes(command))
  return named.length === 0 || command === 'completion' ? commandModules : named
}
