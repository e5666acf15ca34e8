import { readFile } from 'node:fs/promises'
import { text as readAll } from 'node:stream/consumers'
import { clientType, type Managed, type ManagedPage, pagesOf, shownEntry } from '@grantry/administration'
import type { ClientOptions } from '@grantry/core'
import { type Command, InvalidArgumentError } from 'commander'
import { type CommandAdministration, withAdministration } from '../administration/open-administration.ts'
import { errorMessage, fileErrorReason } from '../error-message.ts'
import { assertSharedStorage, configOption, requireConfiguration } from './configuration.ts'
import { table } from './table.ts'

interface CommonArguments {
  readonly config?: string
  readonly json?: true
}

interface MemberArguments extends CommonArguments {
  readonly file?: string
  readonly name?: string
  readonly grant?: readonly string[]
  readonly scope?: readonly string[]
  readonly redirectUri?: readonly string[]
  readonly public?: true
  readonly set?: readonly string[]
  readonly unset?: readonly string[]
  readonly tag?: readonly string[]
  readonly ifVersion?: string
}

const print = (output: string): void => {
  process.stdout.write(output)
}

/** Runs an action on the clients in the storage of the configuration. */
async function run<T>(
  { config }: CommonArguments,
  act: (administration: CommandAdministration) => Promise<T>,
): Promise<T> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'change the clients in the configuration')
  return withAdministration(loaded, act)
}

type ManagedClient = Managed<ClientOptions>

const shown = (client: ManagedClient) => shownEntry(clientType, client)

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

const wordsOf = (member: unknown): string => (Array.isArray(member) && member.length > 0 ? member.join(' ') : '-')

/** Prints the members of a client, one per line. */
const details = (client: ManagedClient): string =>
  table(
    Object.entries(shown(client)).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )

function memberOf(given: string): [name: string, value: unknown] {
  const at = given.indexOf('=')
  const [name, value] = [given.slice(0, at), given.slice(at + 1)]
  if (at < 1) throw new TypeError('--set takes a member and its value in JSON, such as accessTokenLifetime=600')
  try {
    return [name, JSON.parse(value)]
  } catch {
    throw new TypeError(`--set ${name}: the value is not JSON; write text in quotes, such as '${name}="text"'`)
  }
}

/** Reads members of a client from a file, or from standard input. */
async function membersIn(file: string): Promise<Record<string, unknown>> {
  const content = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch((cause: unknown) => {
    throw new TypeError(`cannot read ${file} (${fileErrorReason(cause)})`, { cause })
  })
  let members: unknown
  try {
    members = JSON.parse(content)
  } catch (cause) {
    throw new TypeError(`${file} is not JSON: ${errorMessage(cause)}`, { cause })
  }
  if (typeof members === 'object' && members !== null && !Array.isArray(members))
    return members as Record<string, unknown>
  throw new TypeError(`${file} must be an object with members of a client, such as { "scopes": ["api1"] }`)
}

/** Returns the members that the options of a command name. */
async function changeOf(given: MemberArguments): Promise<Record<string, unknown>> {
  const { file, name, grant, scope, redirectUri, set = [], unset = [] } = given
  return {
    ...(file !== undefined && (await membersIn(file))),
    ...(name !== undefined && { clientName: name }),
    ...(grant !== undefined && { grantTypes: grant }),
    ...(scope !== undefined && { scopes: scope }),
    ...(redirectUri !== undefined && { redirectUris: redirectUri }),
    ...(given.public === true && { public: true }),
    ...Object.fromEntries(set.map(memberOf)),
    ...Object.fromEntries(unset.map((member) => [member, undefined])),
  }
}

async function add(clientId: string, given: MemberArguments): Promise<void> {
  const members = await changeOf(given)
  const options = { ...members, clientId } as ClientOptions
  const { client, secret } = await run(given, ({ clients }) => clients.add(options, given.tag ?? []))
  if (given.json) return print(json({ ...shown(client), ...(secret !== undefined && { secret }) }))
  print(`Added the client ${clientId}.\n`)
  if (secret !== undefined) print(`secret  ${secret}\nThis is the only time that it is shown.\n`)
}

async function edit(clientId: string, given: MemberArguments): Promise<void> {
  const change = await changeOf(given)
  if (Object.keys(change).length === 0 && given.tag === undefined) {
    throw new TypeError('nothing to change; name a member, such as --set accessTokenLifetime=600')
  }
  const options = { version: given.ifVersion, tags: given.tag }
  const client = await run(given, ({ clients }) => clients.edit(clientId, change, options))
  print(given.json ? json(shown(client)) : `Changed the client ${clientId}.\n`)
}

async function setEnabled(clientId: string, given: CommonArguments, enabled: boolean): Promise<void> {
  const client = await run(given, ({ clients }) => clients.edit(clientId, { enabled }))
  const sentence = enabled
    ? `Enabled the client ${clientId}.`
    : `Disabled the client ${clientId}, and revoked its tokens.`
  print(given.json ? json(shown(client)) : `${sentence}\n`)
}

async function remove(clientId: string, given: CommonArguments): Promise<void> {
  await run(given, ({ clients }) => clients.remove(clientId))
  print(given.json ? json({ clientId, removed: true }) : `Removed the client ${clientId}, and revoked its tokens.\n`)
}

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

/** Parses a duration such as `7d` or `12h`. */
function duration(given: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/u.exec(given) ?? []
  const seconds = Number(count) * (unitSeconds[unit] ?? Number.NaN)
  if (Number.isNaN(seconds)) throw new InvalidArgumentError('It must be a number and s, m, h or d, such as 7d.')
  return seconds
}

async function rotateSecret(clientId: string, given: CommonArguments & { readonly overlap: number }): Promise<void> {
  const { client, secret } = await run(given, ({ clients }) => clients.rotateSecret(clientId, given.overlap))
  if (given.json) return print(json({ ...shown(client), secret }))
  const end = new Date((Math.floor(Date.now() / 1000) + given.overlap) * 1000).toISOString()
  const old = given.overlap > 0 ? `The earlier secrets work until ${end}.` : 'The earlier secrets no longer work.'
  print(`secret  ${secret}\nThis is the only time that it is shown. ${old}\n`)
}

async function list(given: CommonArguments & { readonly prefix?: string; readonly tag?: string }): Promise<void> {
  const pages = await run(given, async ({ clients }) => {
    const all: ManagedPage<ClientOptions>[] = []
    for await (const page of pagesOf(clients.page, { prefix: given.prefix, tag: given.tag })) all.push(page)
    return all
  })
  const found = pages.flatMap(({ entries }) => entries)
  const unreadable = pages.flatMap((page) => page.unreadable)
  if (given.json)
    return print(json([...found.map(shown), ...unreadable.map((clientId) => ({ clientId, unreadable: true }))]))
  const rows = found.map(({ value: client, tags, changedAt }) => [
    client.clientId,
    client.enabled === false ? 'disabled' : 'enabled',
    wordsOf(client.grantTypes),
    wordsOf(client.scopes),
    wordsOf(tags),
    changedAt,
  ])
  const unknown = unreadable.map((clientId) => [clientId, 'unreadable', '-', '-', '-', '-'])
  print(table([['ID', 'STATE', 'GRANT TYPES', 'SCOPES', 'TAGS', 'CHANGED'], ...rows, ...unknown]))
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
    run(given, async ({ clients: all }) => {
      const client = await all.show(clientId)
      print(given.json ? json(shown(client)) : details(client))
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
  ofClient('rotate-secret', 'add a new secret, which is shown once, and let the earlier ones end')
    .option('--overlap <time>', 'how long the earlier secrets work, such as 7d or 12h', duration, 0)
    .action(rotateSecret)
  ofClient('remove', 'remove a client, and revoke its tokens').action(remove)
}
