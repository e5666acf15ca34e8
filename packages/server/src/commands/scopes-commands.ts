import { kinds } from '@grantry/administration'
import type { ScopeOptions } from '@grantry/core'
import type { Command } from 'commander'
import type { CommandKind } from './kind-actions.ts'
import { entryCommands, groupCommands } from './kind-commands.ts'

const ofScopes: CommandKind<ScopeOptions> = {
  kind: kinds.scope,
  options: [
    ['--audience <uri>', 'the `aud` of access tokens for this API', 'audience'],
    ['--claim <names...>', 'claims of the user', 'claims'],
    ['--identity', 'a set of claims that userinfo returns, not an API', 'identity'],
  ],
  examples: {
    change: '--audience https://api.example.com',
    set: 'unrestrictedIntrospection=true',
    file: '{ "claims": ["name"] }',
  },
  ends: {
    added: () => '. Running servers know it within 5 seconds.',
    disabled: '. Tokens that have it stay valid until they end: see the guide.',
  },
}

/** Adds `grantry scopes`. Running servers see the changes within seconds. */
export function addScopesCommands(grantry: Command): void {
  const group = grantry.command('scopes').description('add and change scopes while the service runs')
  const scopes = entryCommands(ofScopes, groupCommands(group, ['<name>', 'the name of the scope']))
  scopes.list('list the scopes in the storage')
  scopes.show('show a scope')
  scopes.add('add a scope').option('--secret', 'create a secret, with which its API calls introspection; shows it once')
  scopes.edit('change members of a scope')
  scopes.disable('put a scope into no new token, and refuse introspection by its API')
  scopes.enable('let clients get a scope again')
  scopes.rotateSecret()
  scopes.remove('remove a scope that no client has')
}
