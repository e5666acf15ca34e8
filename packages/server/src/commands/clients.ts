import { clientGaps, clientType, type Managed, type ManagedPage, pagesOf, shownEntry } from '@grantry/administration'
import type { ClientOptions } from '@grantry/core'
import type { Command } from 'commander'
import { configOption } from './configuration.ts'
import {
  assertHas,
  type ChangeArguments,
  type CommonArguments,
  changeOf,
  details,
  json,
  jsonOfPages,
  print,
  runOnEntries,
  runOnEntry,
  tableOfPages,
  warnOf,
  wordsOf,
} from './entry-commands.ts'
import { shownRotation, shownSecret, withOverlap } from './shown-secret.ts'

interface MemberArguments extends CommonArguments, ChangeArguments {
  readonly name?: string
  readonly grant?: readonly string[]
  readonly scope?: readonly string[]
  readonly redirectUri?: readonly string[]
  readonly public?: true
  readonly tag?: readonly string[]
  readonly ifVersion?: string
}

const shown = (client: Managed<ClientOptions>) => shownEntry(clientType, client)

/** Returns the members that the options of a command name. */
function membersOf({ name, grant, scope, redirectUri, public: isPublic, ...given }: MemberArguments) {
  const single = { clientName: name, grantTypes: grant, scopes: scope, redirectUris: redirectUri, public: isPublic }
  return changeOf(given, single, { set: 'accessTokenLifetime=600', file: '{ "scopes": ["api1"] }' })
}

async function add(clientId: string, given: MemberArguments): Promise<void> {
  const members = await membersOf(given)
  const options = { ...members, clientId } as ClientOptions
  const { client, secret } = await runOnEntries(given, ({ clients }) => clients.add(options, given.tag ?? []))
  warnOf(clientGaps(client.value))
  if (given.json) return print(json({ ...shown(client), ...(secret !== undefined && { secret }) }))
  print(`Added the client ${clientId}.\n`)
  if (secret !== undefined) print(shownSecret(secret))
}

async function edit(clientId: string, given: MemberArguments): Promise<void> {
  const change = await membersOf(given)
  if (Object.keys(change).length === 0 && given.tag === undefined) {
    throw new TypeError('nothing to change; name a member, such as --set accessTokenLifetime=600')
  }
  const options = { version: given.ifVersion, tags: given.tag }
  const client = await runOnEntry('clients', clientId, given, async ({ clients }) => {
    if (given.unset !== undefined)
      assertHas(`the client ${clientId}`, (await clients.show(clientId)).value, given.unset)
    return clients.edit(clientId, change, options)
  })
  warnOf(clientGaps(client.value))
  print(given.json ? json(shown(client)) : `Changed the client ${clientId}.\n`)
}

async function setEnabled(clientId: string, given: CommonArguments, enabled: boolean): Promise<void> {
  const client = await runOnEntry('clients', clientId, given, ({ clients }) => clients.edit(clientId, { enabled }))
  const sentence = enabled
    ? `Enabled the client ${clientId}.`
    : `Disabled the client ${clientId}, and revoked its tokens.`
  print(given.json ? json(shown(client)) : `${sentence}\n`)
}

async function remove(clientId: string, given: CommonArguments): Promise<void> {
  await runOnEntry('clients', clientId, given, ({ clients }) => clients.remove(clientId))
  print(given.json ? json({ clientId, removed: true }) : `Removed the client ${clientId}, and revoked its tokens.\n`)
}

async function rotateSecret(clientId: string, given: CommonArguments & { readonly overlap: number }): Promise<void> {
  const { client, ...secrets } = await runOnEntry('clients', clientId, given, ({ clients }) =>
    clients.rotateSecret(clientId, given.overlap),
  )
  print(given.json ? json({ ...shown(client), ...secrets }) : shownRotation(secrets, given.overlap))
}

async function list(given: CommonArguments & { readonly prefix?: string; readonly tag?: string }): Promise<void> {
  const pages = await runOnEntries(given, async ({ clients }) => {
    const all: ManagedPage<ClientOptions>[] = []
    for await (const page of pagesOf(clients.page, { prefix: given.prefix, tag: given.tag })) all.push(page)
    return all
  })
  if (given.json) return print(jsonOfPages(clientType, pages))
  const rowOf = ({ value: client, tags, changedAt }: Managed<ClientOptions>) => [
    client.clientId,
    client.enabled === false ? 'disabled' : 'enabled',
    wordsOf(client.grantTypes),
    wordsOf(client.scopes),
    wordsOf(tags),
    changedAt,
  ]
  print(tableOfPages(['ID', 'STATE', 'GRANT TYPES', 'SCOPES', 'TAGS', 'CHANGED'], pages, rowOf))
}

/** Adds the options that name members of a client. */
const withMembers = (command: Command): Command =>
  command
    .option('--name <text>', 'the name that users see')
    .option('--grant <types...>', 'grant types')
    .option('--scope <names...>', 'scopes')
    .option('--redirect-uri <uris...>', 'redirect URIs')
    .option('--set <member=json...>', 'any member, such as accessTokenLifetime=600')
    .option('--file <file>', 'members as a JSON object; - reads standard input')
    .option('--tag <labels...>', 'labels, to find it by')

/** Adds `grantry clients`. Running servers see the changes within seconds. */
export function addClientsCommands(grantry: Command): void {
  const clients = grantry.command('clients').description('add and change clients while the service runs')
  const command = (name: string, description: string): Command =>
    clients
      .command(name)
      .description(description)
      .option(...configOption)
      .option('--json', 'print JSON')
  const ofClient = (name: string, description: string): Command =>
    command(name, description).argument('<id>', 'the client id')

  command('list', 'list the clients in the storage')
    .option('--prefix <text>', 'only those whose ids start with it')
    .option('--tag <label>', 'only those with this label')
    .action(list)
  ofClient('show', 'show a client').action((clientId: string, given: CommonArguments) =>
    runOnEntry('clients', clientId, given, async ({ clients: all }) => {
      const client = await all.show(clientId)
      print(given.json ? json(shown(client)) : details(clientType, client))
    }),
  )
  withMembers(ofClient('add', 'add a client; shows its new secret once'))
    .option('--public', 'an application that cannot keep a secret')
    .action(add)
  withMembers(ofClient('edit', 'change members of a client'))
    .option('--unset <members...>', 'members to remove, which then have their defaults')
    .option('--if-version <version>', 'only if this is its current version, as shown by grantry clients show')
    .action(edit)
  ofClient('disable', 'refuse all requests of a client, and revoke its tokens').action(
    (clientId: string, given: CommonArguments) => setEnabled(clientId, given, false),
  )
  ofClient('enable', 'accept requests of a client again').action((clientId: string, given: CommonArguments) =>
    setEnabled(clientId, given, true),
  )
  withOverlap(ofClient('rotate-secret', 'add a new secret, which is shown once, and let the earlier ones end')).action(
    rotateSecret,
  )
  ofClient('remove', 'remove a client, and revoke its tokens').action(remove)
}
