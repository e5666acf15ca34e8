import { kinds } from '@grantry/administration'
import type { ClientOptions } from '@grantry/core'
import type { Command } from 'commander'
import type { CommandKind } from './kind-actions.ts'
import { entryCommands, groupCommands } from './kind-commands.ts'

const ofClients: CommandKind<ClientOptions> = {
  kind: kinds.client,
  options: [
    ['--name <text>', 'the name that users see', 'clientName'],
    ['--grant <types...>', 'grant types', 'grantTypes'],
    ['--scope <names...>', 'scopes', 'scopes'],
    ['--redirect-uri <uris...>', 'redirect URIs', 'redirectUris'],
  ],
  newOptions: [['--public', 'an application that cannot keep a secret', 'public']],
  examples: {
    change: '--set accessTokenLifetime=600',
    set: 'accessTokenLifetime=600',
    file: '{ "scopes": ["api1"] }',
  },
  ends: { disabled: ', and revoked its tokens.', removed: ', and revoked its tokens.' },
}

/** Adds `grantry clients`. Running servers see the changes within seconds. */
export function addClientsCommands(grantry: Command): void {
  const group = grantry.command('clients').description('add and change clients while the service runs')
  const clients = entryCommands(ofClients, groupCommands(group, ['<id>', 'the client id']))
  clients.list('list the clients in the storage')
  clients.show('show a client')
  clients.add('add a client; shows its new secret once')
  clients.edit('change members of a client')
  clients.disable('refuse all requests of a client, and revoke its tokens')
  clients.enable('accept requests of a client again')
  clients.rotateSecret()
  clients.remove('remove a client, and revoke its tokens')
}
